# SPDX-License-Identifier: MPL-2.0
"""The files that are copied: clips of this project, conformance vectors, and files that are made of the clips."""

import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import threading

import patches

ROOT = pathlib.Path(__file__).resolve().parents[3]
MEDIA = ROOT / "Tests" / "Media"
VECTORS = pathlib.Path(os.environ.get("CONFORMANCE_VECTORS", ROOT.parent / "shared" / "vectors"))

# FFmpeg's command lines. {NAME} is another source; the name of the new one follows. "> " has FFmpeg write into a pipe,
# "h26x" is the program that is compared. Names that begin with _ are only parts of others.
COMMANDS = {
    # Sound.
    "_aac.m4a": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a aac -b:a 64k",
    "_aac2.m4a": "-f lavfi -i sine=frequency=880:sample_rate=44100:duration=2.5 -c:a aac -b:a 48k",
    "_aac-long.m4a": "-f lavfi -i sine=sample_rate=48000:duration=60 -c:a aac -b:a 48k",
    "_ac3.mka": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a ac3",
    "_eac3.mka": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a eac3",
    "_mp2.mka": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a mp2",
    "_mp3.mka": "-f lavfi -i sine=sample_rate=44100:duration=2.5 -ac 2 -c:a libmp3lame",
    "_opus.mka": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a libopus",
    "_flac.mka": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a flac",
    "_vorbis.mka": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a libvorbis",
    "_pcm.mka": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a pcm_s16le",
    "_pcm24.mka": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a pcm_s24le",
    "_pcm16be.mov": "-f lavfi -i sine=sample_rate=48000:duration=2.5 -ac 2 -c:a pcm_s16be",
    "_alaw.mka": "-f lavfi -i sine=sample_rate=8000:duration=2.5 -c:a pcm_alaw",
    "_cover.png": "-f lavfi -i color=size=16x16:duration=1 -frames:v 1 -c:v png -f image2",
    # Two streams and several.
    "several.mkv": "-i {clip.mp4} -i {_aac.m4a} -i {_opus.mka} -i {_ac3.mka} -map 0 -map 1 -map 2 -map 3 -c copy"
    " -metadata:s:a:0 language=ger -metadata:s:a:1 language=eng -metadata:s:a:2 language=fre"
    " -disposition:a:0 0 -disposition:a:1 default+comment -disposition:a:2 forced+hearing_impaired",
    "several.mp4": "-i {several.mkv} -map 0 -c copy",
    "several.mov": "-i {clip.mp4} -i {_aac.m4a} -i {_pcm16be.mov} -map 0 -map 1 -map 2 -c copy"
    " -metadata:s:a:0 language=ger -metadata:s:a:1 language=eng",
    "several.ts": "-i {clip.ts} -i {_aac.m4a} -i {_ac3.mka} -i {_mp2.mka} -map 0 -map 1 -map 2 -map 3 -c copy"
    " -metadata:s:a:0 language=ger -metadata:s:a:1 language=eng -disposition:a:1 hearing_impaired",
    "flac-first.mkv": "-i {clip.mp4} -i {_flac.mka} -i {_aac.m4a} -map 0 -map 1 -map 2 -c copy",
    "videos.mkv": "-i {clip.mp4} -i {clip-h265.mp4} -i {_aac.m4a} -i {_aac2.m4a} -map 0 -map 1 -map 2 -map 3 -c copy"
    " -metadata:s:a:0 language=ger -metadata:s:a:1 language=fre",
    "videos.mp4": "-i {videos.mkv} -map 0 -c copy",
    "programs.ts": "-i {clip.ts} -i {clip-h265.ts} -i {_aac.m4a} -map 0 -map 1 -map 2 -c copy"
    " -program title=one:program_num=1:st=0 -program title=seven:program_num=7:st=1:st=2",
    # Subtitles, chapters, covers and other parts.
    "everything.mkv": "-i {clip.mp4} -i {_aac.m4a} -i {_opus.mka} -i {_words.srt} -i {_chapters.txt} -map 0 -map 1"
    " -map 2 -map 3 -map 3 -map 3 -c copy -c:s:1 ass -c:s:2 webvtt -map_metadata 4 -metadata:s:a:0 language=ger"
    " -metadata:s:a:1 language=eng -metadata:s:s:0 language=ger -metadata:s:s:1 language=eng -disposition:s:1 forced"
    " -attach {_cover.png} -metadata:s:t:0 mimetype=image/png -metadata:s:t:0 filename=cover.png"
    " -attach {_words.srt} -metadata:s:t:1 mimetype=application/x-truetype-font -metadata:s:t:1 filename=words.ttf",
    "everything.mp4": "-i {clip.mp4} -i {_aac.m4a} -i {_ac3.mka} -i {_words.srt} -i {_chapters.txt} -i {_cover.png}"
    " -map 0 -map 1 -map 2 -map 3 -map 5 -c copy -c:s mov_text -map_metadata 4 -disposition:v:1 attached_pic"
    " -metadata:s:a:0 language=ger -metadata:s:s:0 language=eng",
    "everything.mov": "-i {clip.mp4} -i {_aac.m4a} -i {_words.srt} -i {_chapters.txt} -map 0 -map 1 -map 2 -c copy"
    " -c:s mov_text -map_metadata 3 -timecode 01:00:00:00",
    "everything-h265.mkv": "-i {clip-h265.mp4} -i {_aac.m4a} -i {_words.srt} -i {_chapters.txt} -map 0 -map 1 -map 2"
    " -c copy -map_metadata 3",
    "everything-h265.mp4": "-i {everything-h265.mkv} -map 0 -c copy -c:s mov_text -tag:v hvc1",
    "gaps.mkv": "-i {clip.mp4} -i {_aac.m4a} -i {_gaps.txt} -map 0 -map 1 -c copy -map_metadata 2",
    "tags.mkv": "-i {clip.mp4} -c copy -metadata title=\"a\u001b[31mb\" -metadata comment=\u00fcn\u00ef"
    " -metadata:s:v title=view -metadata:s:v language=jpn",
    "timecode.mov": "-i {clip.mp4} -c copy -timecode 01:00:00:00",
    "timecode.mp4": "-i {clip-h265.mp4} -c copy -timecode 01:00:00:00 -tag:v hvc1",
    "timecode.flv": "-i {clip.flv} -c copy -metadata timecode=01:00:00:00",
    # Streams that begin late and end early.
    "sound-first.ts": "-itsoffset 1.5 -i {clip.ts} -i {_aac-long.m4a} -map 0 -map 1 -t 6 -c copy",
    "sound-late.ts": "-i {clip.ts} -itsoffset 1.5 -i {_aac.m4a} -map 0 -map 1 -c copy",
    "sound-late.flv": "-i {clip.flv} -itsoffset 1.5 -i {_aac.m4a} -map 0 -map 1 -c copy",
    "sound-first.mp4": "-itsoffset 1.5 -i {clip.mp4} -i {_aac.m4a} -map 0 -map 1 -c copy",
    "sound-short.mkv": "-i {clip.mkv} -t 0.5 -i {_aac.m4a} -map 0 -map 1 -c copy",
    "sound-very-late.ts": "-i {long.ts} -itsoffset 35 -i {_aac.m4a} -map 0:v -map 1 -c copy",
    "_mono.ts": "-i {clip.ts} -i {_aac2.m4a} -map 0 -map 1 -c copy",
    # Encoded: random access points other than IDR pictures, fields, uneven rates, length.
    "open-gop.mkv": "-f lavfi -i testsrc2=size=96x64:rate=25:duration=4 -i {_aac.m4a} -pix_fmt yuv420p -c:a copy"
    " -c:v libx264 -x264-params open-gop=1:keyint=12:min-keyint=12:scenecut=0:bframes=3:b-pyramid=normal:threads=1",
    "open-gop-h265.mkv": "-f lavfi -i testsrc2=size=96x64:rate=25:duration=4 -i {_aac.m4a} -pix_fmt yuv420p -c:a copy"
    " -c:v libx265 -x265-params"
    " keyint=12:min-keyint=12:bframes=3:b-adapt=0:ctu=16:scenecut=0:info=0:log-level=none:pools=none:frame-threads=1",
    "intra-refresh.mp4": "-f lavfi -i testsrc2=size=96x64:rate=25:duration=4 -pix_fmt yuv420p"
    " -c:v libx264 -x264-params intra-refresh=1:keyint=10:scenecut=0:bframes=0:threads=1",
    "interlaced.mp4": "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -i {_aac.m4a} -pix_fmt yuv420p -c:a copy -t 2"
    " -c:v libx264 -x264-params bff=1:keyint=10:scenecut=0:bframes=2:threads=1",
    "interlaced-h265.mp4": "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -pix_fmt yuv420p -tag:v hvc1"
    " -c:v libx265 -x265-params"
    " interlace=tff:keyint=10:bframes=2:ctu=16:info=0:log-level=none:pools=none:frame-threads=1",
    "uneven.mkv": "-f lavfi -i testsrc2=size=96x64:rate=25:duration=6 -vf select=not(mod(n\\\\,7))+not(mod(n\\\\,3))"
    " -fps_mode vfr -pix_fmt yuv420p -c:v libx264 -x264-params keyint=20:bframes=2:threads=1",
    "slow.mkv": "-f lavfi -i testsrc2=size=64x48:rate=1/5:duration=30 -i {_aac-long.m4a} -t 30 -pix_fmt yuv420p"
    " -c:a copy -c:v libx264 -x264-params bframes=0:threads=1",
    "wide.ts": "-f lavfi -i testsrc2=size=128x70:rate=25:duration=2 -pix_fmt yuv420p"
    " -c:v libx264 -x264-params keyint=10:bframes=2:threads=1",
    "_wide-h265.ts": "-f lavfi -i testsrc2=size=128x70:rate=25:duration=2 -pix_fmt yuv420p"
    " -c:v libx265 -x265-params keyint=10:bframes=2:ctu=16:info=0:log-level=none:pools=none:frame-threads=1",
    "long.mkv": "-f lavfi -i testsrc2=size=64x48:rate=10:duration=60 -i {_aac-long.m4a} -i {_long.srt} -map 0 -map 1"
    " -map 2 -pix_fmt yuv420p -c:a copy -c:s srt -c:v libx264"
    " -x264-params keyint=20:min-keyint=20:open-gop=1:bframes=3:threads=1",
    "long-av.mkv": "-i {long.mkv} -map 0:v -map 0:a -c copy",
    "long.mp4": "-i {long.mkv} -map 0 -c copy -c:s mov_text",
    "long.ts": "-i {long.mkv} -map 0:v -map 0:a -c copy",
    "_long-h265.mkv": "-f lavfi -i testsrc2=size=64x48:rate=10:duration=40 -i {_aac-long.m4a} -t 40 -pix_fmt yuv420p"
    " -c:a copy -c:v libx265 -x265-params keyint=20:min-keyint=20:bframes=3:b-adapt=0:ctu=16:scenecut=0:info=0:"
    "log-level=none:pools=none:frame-threads=1",
    "long-hev1.mp4": "-i {_long-h265.mkv} -c copy -bsf:v hevc_mp4toannexb -tag:v hev1",
    # Other ways to write the same.
    "live.mkv": "-i {sound-aac.mkv} -map 0 -c copy -live 1",
    "long-live.mkv": "> -i {long-av.mkv} -map 0 -c copy -f matroska",
    "fragments.mp4": "-i {sound-aac.mp4} -map 0 -c copy -movflags frag_keyframe+empty_moov+default_base_moof",
    "fragments-short.mp4": "-i {clip.mp4} -c copy -movflags empty_moov+default_base_moof -frag_duration 80000",
    "fragments-h265.mp4": "-i {clip-h265.mp4} -c copy -tag:v hvc1"
    " -movflags frag_keyframe+empty_moov+default_base_moof+negative_cts_offsets",
    "fragments-long.mp4": "-i {long.mp4} -map 0:v -map 0:a -c copy -movflags frag_keyframe+empty_moov+separate_moof",
    "front.mp4": "-i {sound-aac.mp4} -map 0 -c copy -movflags faststart",
    "hev1.mp4": "-i {clip-h265.mp4} -c copy -tag:v hev1",
    "in-band.mp4": "-i {clip-h265.mp4} -c copy -bsf:v hevc_mp4toannexb -tag:v hev1",
    "in-band.mkv": "-i {clip.mkv} -c copy -bsf:v h264_mp4toannexb",
    "negative.mp4": "-i {clip.mp4} -c copy -movflags negative_cts_offsets",
    "hdr10.mkv": "-i {hdr10.mp4} -c copy",
    "dolby5.mkv": "h26x repack {dolby5.mp4}",
    "clip.avi": "-i {clip.mp4} -i {_pcm.mka} -map 0 -map 1 -c copy -bsf:v h264_mp4toannexb",
    "clip.mpg": "-i {clip.mp4} -i {_mp2.mka} -map 0 -map 1 -c copy -bsf:v h264_mp4toannexb -f vob",
    "clip.m2ts": "-i {several.ts} -map 0 -c copy -mpegts_m2ts_mode 1",
    "changing-other.mp4": "-i {changing.ts} -c copy",
    "changing-other.mkv": "-i {changing.ts} -c copy",
    "_motion.avi": "-f lavfi -i testsrc2=size=64x48:duration=1 -c:v mjpeg",
    "motion.avi": "-i {_motion.avi} -c copy",
    # More than 16 MiB, which get room for their description.
    "_loud.mka": "-f lavfi -i anoisesrc=sample_rate=96000:duration=9:seed=1 -af pan=7.1"
    + "".join(f"|c{channel}=c0" for channel in range(8)) + " -sample_fmt s32 -c:a flac",
    "_loud.mov": "-f lavfi -i anoisesrc=sample_rate=96000:duration=7:seed=1 -ac 8 -c:a pcm_s32le",
    "large.mkv": "-i {clip.mp4} -i {_loud.mka} -map 0 -map 1 -c copy",
    "large.mov": "-i {clip.mp4} -i {_loud.mov} -map 0 -map 1 -c copy",
    # Written by the program: sound in front of time 0, field pairs, and streams without a frame rate.
    "cut-sound.mp4": "h26x repack {everything.mkv} --start 1",
    "hidden-sound.mp4": "h26x repack {everything.mkv} --start 0.92 --cut hidden",
    "early-sound.mkv": "h26x repack {cut-sound.mp4}",
    "fields.mp4": "h26x repack {fields.h264}",
    "fields.mov": "h26x repack {fields.h264}",
    "fields.mkv": "h26x repack {fields.h264}",
    "fields.ts": "h26x repack {fields.h264}",
    "changing.mp4": "h26x repack {changing.h264}",
    "changing.mkv": "h26x repack {changing.h264}",
    "changing-h265.mp4": "h26x repack {changing.h265}",
    "filled.ts": "h26x repack {filled.h264}",
    "filled.mkv": "h26x repack {filled.h264}",
    "untimed.mp4": "h26x repack {untimed.h264} --framerate 25",
    "no-rate.ts": "h26x repack {no-rate.h264} --framerate 25",
    "no-rate.mkv": "h26x repack {no-rate.ts}",
}

# Sound codecs, and containers that hold them.
SOUNDS = {
    "aac.m4a": "mp4 mov mkv ts flv", "ac3.mka": "mp4 mkv ts", "eac3.mka": "mkv ts", "mp2.mka": "mkv ts",
    "mp3.mka": "mp4 mkv ts flv", "opus.mka": "mp4 mkv ts", "flac.mka": "mp4 mkv", "vorbis.mka": "mkv",
    "pcm.mka": "mkv mov", "pcm24.mka": "mkv", "pcm16be.mov": "mov", "alaw.mka": "mkv mov",
}
for _sound, _containers in SOUNDS.items():
    for _container in _containers.split():
        COMMANDS[f"sound-{_sound.split('.')[0]}.{_container}"] = (
            f"-i {{clip.mp4}} -i {{_{_sound}}} -map 0:v -map 1:a -c copy -strict experimental")
for _name in ("open-gop.mkv", "open-gop-h265.mkv", "interlaced.mp4", "interlaced-h265.mp4", "uneven.mkv"):
    for _suffix in ("mp4", "mkv", "ts", "flv"):
        _stem = _name.split(".")[0]
        if _suffix != "flv" or not _stem.endswith("h265"):
            COMMANDS.setdefault(f"{_stem}.{_suffix}", f"-i {{{_name}}} -map 0 -c copy"
                                + (" -tag:v hvc1" if _stem.endswith("h265") and _suffix == "mp4" else ""))

# Edit lists, in pictures: how long each part is, and where it begins.
EDITS = {
    "end": [(25, 0)], "front": [(31, 31)], "middle": [(9, 31)], "pause": [(10, None), (62, 0)],
    "pause-front": [(10, None), (10, 31)], "long-pause": [(200, None), (10, 31)], "parts": [(10, 0), (10, 31)],
    "parts-pause": [(10, 0), (20, None), (10, 31)], "parts-back": [(10, 31), (10, 0)], "twice": [(5, 3), (5, 3)],
    "inside": [(15, 13.5)], "keyframe": [(20, 42)],
}

# Files that are other files with changed bytes.
PATCHES = {
    "_words.srt": ([], lambda: "1\n00:00:00,200 --> 00:00:01,200\none <i>word</i>\n\n"
                               "2\n00:00:01,400 --> 00:00:02,200\ntwo\nlines\n\n".encode()),
    "_long.srt": ([], lambda: "".join(
        f"{number + 1}\n00:00:{number * 4:02},500 --> 00:00:{number * 4 + 3:02},000\nline {number}\n\n"
        for number in range(14)).encode()),
    "_chapters.txt": ([], lambda: _metadata((0, 1000), (1000, 2480))),
    "_gaps.txt": ([], lambda: _metadata((0, 500), (1000, 2480))),
    # Byte streams.
    "fields.h264": ([], patches.fields),
    "untimed.h264": ([], patches.untimed),
    "filled.h264": (["wide.h264"], lambda data: patches.filled(data, 300_000)),
    "filled-little.h264": (["clip.h264"], lambda data: patches.filled(data, 500)),
    "no-recovery-points.h264": (["open-gop.h264"], lambda data: patches.without(data, {6})),
    "late-start.h264": (["open-gop.h264"], lambda data: patches.without(data, {6}, 16)),
    "no-idr.h264": (["intra-refresh.h264"], lambda data: patches.without(data, {5})),
    "ended.h265": (["open-gop.h265"], patches.ended),
    "delimiter.h264": (["clip.h264"], lambda data: data + bytes.fromhex("0000000109F0")),
    "changing.h264": (["clip.h264", "wide.h264"], lambda clip, wide: clip + wide + clip),
    "changing.h265": (["clip.h265", "wide.h265"], lambda clip, wide: clip + wide + clip),
    "sizes.h264": (["clip.h264", "wide.h264"], lambda clip, wide: patches.first_picture(clip) + wide),
    "lost.h264": (["clip.h264"], patches.without_second_picture),
    "no-rate.h264": (["h264/HCAFR1_HHI.264"], lambda data: data),
    # MP4 and MOV.
    "turned.mp4": (["clip.mp4"], patches.turned),
    "half-rate.mp4": (["clip.mp4"], patches.with_media_rate),
    "below-zero.mp4": (["clip.mp4"], patches.with_negative_offsets),
    "uneven-samples.mp4": (["clip.mp4"], patches.uneven),
    "long-times.mp4": (["clip.mp4"], patches.with_long_times),
    "merged.mp4": (["clip.mp4"], patches.merged),
    "start-codes.mp4": (["clip.mp4"], patches.with_start_codes),
    "start-codes-h265.mp4": (["clip-h265.mp4"], patches.with_start_codes),
    "start-codes-in-record.mp4": (["clip.mp4"], patches.with_start_codes_in_record),
    "damaged.mp4": (["clip.mp4"], patches.damaged),
    "order.mp4": (["clip-h265.mp4"], patches.with_other_order),
    "later-fragments.mp4": (["fragments-short.mp4"], patches.later_fragments),
    "intra.mov": (["clip.mp4"], lambda data: patches.replaced(
        data, b"avc1", b"ai12", last=True).replace(b"isom", b"qt  ")),
    "encrypted.mp4": (["clip.mp4"], lambda data: patches.encrypted(data, b"encv", b"cenc")),
    "encrypted-clear.mp4": (["clip.mp4"], lambda data: patches.encrypted(data, b"avc1", b"cbc1")),
    "protected.mp4": (["clip.mp4"], lambda data: patches.encrypted(data, b"avc1", b"rstr")),
    "sound-parts.mp4": (["sound-aac.mp4"], lambda data: patches.edited_sound(data, [(0.5, 0), (0.5, 24_000)])),
    "sound-end.mov": (["sound-aac.mov"], lambda data: patches.edited_sound(data, [(0.544, 0)])),
    "sound-pause.mp4": (["sound-aac.mp4"], lambda data: patches.edited_sound(data, [(0.3, -1), (1.5, 1024)])),
    "sound-far.mp4": (["long.mp4"], lambda data: patches.edited_sound(data, [(20_000, -1), (60_000, 0)], long=True)),
    "both-edited.mp4": (["sound-end.mov"], lambda data: patches.edited(data, EDITS["middle"])),
    "hdr10.mp4": (["clip-h265.mp4"], lambda data: patches.described(
        data, patches.STEREO, patches.SPHERICAL, *patches.HDR10)),
    "dolby5.mp4": (["clip-h265.mp4"], lambda data: patches.described(
        data, patches.dolby_vision("dvcC", 5, 0), coding=b"dvh1")),
    "dolby8.mp4": (["clip-h265.mp4"], lambda data: patches.described(data, patches.dolby_vision("dvvC", 8, 1))),
    "dolby20.mp4": (["clip-h265.mp4"], lambda data: patches.described(data, patches.dolby_vision("dvwC", 20, 0))),
    "spatial.mp4": (["clip-h265.mp4"], lambda data: patches.described(
        data, patches.SPATIAL, patches.LAYERS, patches.FIELD_OF_VIEW)),
    "profile.mp4": (["clip-h265.mp4"], lambda data: patches.described(
        data, patches.PROFILE, patches.dolby_vision("dvcC", 8, 1))),
    "aperture.mp4": (["clip-h265.mp4"], lambda data: patches.described(
        data, patches.APERTURE, patches.FIELD_OF_VIEW, *patches.HDR10)),
    "full-range.mp4": (["intra-refresh.mp4"], lambda data: patches.described(data, patches.FULL_RANGE)),
    "unknown-boxes.mp4": (["clip-h265.mp4"], lambda data: patches.described(
        data, *[patches.Box("abcd", b"\1")] * 1000)),
    "endless-box.mp4": (["clip-h265.mp4"], patches.with_endless_box),
    "unreadable-track.mp4": (["clip-h265.mp4"], patches.with_unreadable_track),
    # Transport streams.
    "wrapped.ts": (["sound-aac.ts"], lambda data: patches.wrapped(data, 90_000)),
    "wrapped-early.ts": (["sound-aac.ts"], lambda data: patches.wrapped(data, 300)),
    "joined.ts": (["sound-aac.ts"], lambda data: data + patches.moved(data, 20 * 90_000) + data),
    "joined-back.ts": (["sound-aac.ts"], lambda data: data + patches.moved(data, -3600 * 90_000)),
    "repeated-time.ts": (["clip.ts"], lambda data: data + patches.moved(data, 62 * 3600 - 3600)),
    "thinned.ts": (["clip.ts"], lambda data: patches.thinned(data, lambda number: number % 5 == 0)),
    "first-time.ts": (["clip.ts"], lambda data: patches.thinned(data, lambda number: number == 0)),
    "thinned-gap.ts": (["clip.ts"], lambda data: patches.thinned(
        data + patches.moved(data, 5 * 90_000), lambda number: number % 2 == 0)),
    "thinned-no-rate.ts": (["no-rate.ts"], lambda data: patches.thinned(data, lambda number: number == 0)),
    "announced-sound.ts": (["sound-aac.ts"], patches.without_sound),
    "damaged-sound.ts": (["sound-aac.ts"], patches.with_damaged_sound),
    "begun-sound.ts": (["sound-aac.ts"], patches.with_begun_sound),
    "untimed-sound.ts": (["sound-aac.ts"], lambda data: patches.thinned(
        data, lambda number: number == 3, range(0xC0, 0xE0))),
    "other-sound.ts": (["sound-aac.ts", "_mono.ts"], lambda one, two: one + patches.moved(two, 3 * 90_000)),
    "changing.ts": (["clip.ts", "wide.ts"], lambda clip, wide: clip + patches.moved(wide, 3 * 90_000)),
    "changing-h265.ts": (["clip-h265.ts", "_wide-h265.ts"], lambda clip, wide: clip + patches.moved(wide, 3 * 90_000)),
    "parity.ts": (["sound-aac.ts"], lambda data: patches.spaced(data, b"", b"\x55" * 16)),
    "junk.ts": (["sound-aac.ts"], lambda data: patches.noise(5000) + data),
    "garbage.ts": (["sound-aac.ts"], lambda data: data[:18_800] + b"\x33" * 37 + data[18_800:]),
    "suffix-sei.ts": (["clip-h265.ts"], lambda data: data.replace(b"\0\0\1\x50\1", b"\0\0\1\x4e\1")),
    # Other containers.
    "negative.flv": (["sound-aac.flv"], lambda data: patches.decoded_later(data, 80)),
    "cropped.mkv": (["clip.mkv"], lambda data: patches.with_elements(data, video=patches.CROP)),
    "swiss.mkv": (["clip.mkv"], lambda data: patches.with_elements(data, track=patches.SWISS)),
    "nested.mkv": (["clip.mkv"], lambda data: patches.with_elements(data, segment=patches.NESTED)),
    "unreadable-words.mkv": (["subtitles.mkv"], lambda data: patches.replaced(data, b"one <i>", b"\xff\xfe\xc0 <i>")),
    "camera.mpg": (["clip.mpg"], lambda data: b"IMKH\1\1" + bytes(34) + data),
    # Files with noise in their middle, files without an end, and others that are not copied.
    "overwritten.mkv": (["sound-aac.mkv"], patches.overwritten),
    "overwritten.ts": (["sound-aac.ts"], patches.overwritten),
    "overwritten.flv": (["sound-aac.flv"], patches.overwritten),
    "overwritten.mp4": (["sound-aac.mp4"], patches.overwritten),
    "overwritten-fragments.mp4": (["fragments.mp4"], lambda data: patches.replaced(data, b"moof", b"mxxf", last=True)),
    "cut.mkv": (["sound-aac.mkv"], lambda data: data[:-3000]),
    "cut.ts": (["sound-aac.ts"], lambda data: data[:-3000]),
    "cut.flv": (["sound-aac.flv"], lambda data: data[:-3000]),
    "cut.mp4": (["sound-aac.mp4"], lambda data: data[:-3000]),
    "cut-front.mp4": (["front.mp4"], lambda data: data[:-3000]),
    "cut-fragments.mp4": (["fragments.mp4"], lambda data: data[:-3000]),
    "text.mp4": ([], lambda: b"Not a video.\n"),
    "empty.mkv": ([], lambda: b""),
    "noise.h264": ([], lambda: patches.noise(4000)),
    "no-sets.h264": (["clip.h264"], lambda data: patches.without(data, {7, 8})),
    "_sei.jsonl": ([], lambda: b"".join(
        b'{"access-unit": %d, "type": 5, "payload": "%s48692e"}\n' % (number, b"ab" * 16) for number in (0, 1, 30))),
}
for _name, _edits in EDITS.items():
    PATCHES[f"edited-{_name}.mp4"] = (["clip.mp4"], lambda data, edits=_edits: patches.edited(data, edits))
    if _name in ("front", "middle", "parts", "keyframe"):
        PATCHES[f"edited-{_name}-h265.mp4"] = (
            ["clip-h265.mp4"], lambda data, edits=_edits: patches.edited(data, edits))


def _metadata(*chapters):
    """FFmpeg's file of metadata."""
    text = ";FFMETADATA1\ntitle=Two cubes\nartist=Nobody\ncreation_time=2024-02-29T12:00:00.000000Z\n"
    for number, (start, end) in enumerate(chapters):
        text += f"[CHAPTER]\nTIMEBASE=1/1000\nSTART={start}\nEND={end}\ntitle=part {number}\n"
    return text.encode()


class Missing(Exception):
    """A source that this machine does not have."""


class Sources:
    """Makes the sources, each once."""

    def __init__(self, folder, run):
        """`run` calls the program with arguments in a folder."""
        self.folder, self.run = pathlib.Path(folder), run
        self.locks, self.lock = {}, threading.Lock()
        self.digests = {}

    @staticmethod
    def names():
        """All files that are copied."""
        vectors = [str(path.relative_to(VECTORS)) for codec in ("h264", "h265")
                   for path in sorted((VECTORS / codec).glob("*"))]
        media = [str(path.relative_to(MEDIA)) for path in sorted(MEDIA.rglob("*")) if path.suffix in SUFFIXES]
        made = [name for name in (*COMMANDS, *PATCHES) if not name.startswith("_")]
        return media + made + vectors

    def path(self, name):
        """The path of a source, which is made if necessary."""
        if name in COMMANDS or name in PATCHES:
            with self.lock:
                lock = self.locks.setdefault(name, threading.Lock())
            path = self.folder / name
            with lock:
                if not path.exists():
                    self.make(name, path)
        else:
            path = next((folder / name for folder in (MEDIA, VECTORS) if (folder / name).exists()), None)
            if not path:
                raise Missing(f"{name} does not exist")
        if name not in self.digests:
            self.digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        return path

    def make(self, name, path):
        part = path.with_name("part-" + name)
        if name in PATCHES:
            needed, change = PATCHES[name]
            part.write_bytes(change(*(self.path(other).read_bytes() for other in needed)))
        else:
            words = shlex.split(COMMANDS[name])
            words = [re.sub(r"\{(.+)\}", lambda match: str(self.path(match[1])), word) for word in words]
            if words[0] == "h26x":
                result = self.run([*words[1:], "-o", str(part)])
            else:
                piped = words[0] == ">"
                words = [*words[1:], "-"] if piped else [*words, str(part)]
                words[-1:-1] = shlex.split("-fflags +bitexact -flags:v +bitexact -flags:a +bitexact -threads 1")
                command = ["ffmpeg", "-nostdin", "-v", "error", "-fflags", "+bitexact", "-y", *words]
                result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                if piped:
                    part.write_bytes(result.stdout)
            if result.returncode:
                raise Missing(f"{name}: {result.stderr.decode(errors='replace').strip()}")
        part.rename(path)


SUFFIXES = {".h264", ".h265", ".mp4", ".mkv", ".ts", ".flv"}
