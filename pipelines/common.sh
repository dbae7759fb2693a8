# SPDX-License-Identifier: MPL-2.0
# shellcheck shell=bash
# What the scripts of this folder share: finding the plugin, recognising the input, running gst-launch-1.0 and turning
# its output into one clear line. Sourced, never run.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${0##*/}

# Messages are matched below, so they must be English.
export LC_ALL=C

# A checkout that was built brings its own plugin; an installed one is found without help.
if [[ -f $root/.build/plugin/libgstswifth26x.so ]]; then
  export GST_PLUGIN_PATH=$root/.build/plugin${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
fi

die() {
  printf '%s: %s\n' "$program" "$*" >&2
  exit 1
}

# Prints the comment block at the head of the script, which is its manual.
usage() {
  sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
}

# bad_usage MESSAGE...: a mistake on the command line.
bad_usage() {
  printf '%s: %s; see %s --help\n' "$program" "$*" "$program" >&2
  exit 2
}

# need ELEMENT REMEDY: stops with the remedy when GStreamer does not know the element.
need() {
  command -v gst-launch-1.0 > /dev/null || die "gst-launch-1.0 is missing; install gstreamer1.0-tools"
  # Without a version of our own choice, --exists asks for one as new as GStreamer itself.
  gst-inspect-1.0 --exists --atleast-version=0.0 "$1" || die "the GStreamer element $1 is missing; $2"
}

need_ours() {
  local element
  for element in "$@"; do
    need "$element" "run 'make plugin', or point GST_PLUGIN_PATH at the folder of libgstswifth26x.so"
  done
}

# hex FILE OFFSET COUNT: bytes as lower-case hexadecimal without spaces.
hex() {
  od -A n -v -t x1 -j "$2" -N "$3" -- "$1" 2> /dev/null | tr -d ' \n'
}

# recognise FILE: sets `container` by the file's bytes (its name says nothing certain) and the array `source`, the head
# of a pipeline that ends in video/x-h264 as the file has it.
recognise() {
  local file=$1 head demuxer=
  [[ -e $file ]] || die "no such file: $file"
  [[ -f $file ]] || die "not a regular file: $file"
  [[ -r $file ]] || die "cannot read $file"
  [[ -s $file ]] || die "empty file: $file"

  head=$(hex "$file" 0 16)
  case "$head" in
    ????????66747970* | ????????6d6f6f76* | ????????6d646174* | ????????77696465* | ????????66726565*)
      container=MP4 demuxer=qtdemux ;;
    1a45dfa3*) container=Matroska demuxer=matroskademux ;;
    464c5601*) container=FLV demuxer=flvdemux ;;
    52494646????????41564920*) container=AVI demuxer=avidemux ;;
    47*) [[ $(hex "$file" 188 1) == 47 ]] && container='MPEG transport stream' demuxer=tsdemux ;;
    ????????47*) [[ $(hex "$file" 196 1) == 47 ]] && container='MPEG transport stream' demuxer=tsdemux ;;
  esac
  if [[ -n $demuxer ]]; then
    need "$demuxer" "install gstreamer1.0-plugins-good and gstreamer1.0-plugins-bad"
    source=(filesrc "location=$file" ! "$demuxer" ! video/x-h264 ! queue)
    return
  fi

  # A raw stream begins with a start code; a little junk in front of the first one is accepted.
  container='Annex B byte stream'
  if [[ $(known "$head") != unknown* ]] || ! hex "$file" 0 65536 | sed 's/../& /g' | grep -q '00 00 01 '; then
    die "no H.264 in $file: it begins with $(sed 's/../& /g' <<< "${head:0:16}")($(known "$head"));" \
      "expected an Annex B byte stream (start codes 00 00 01), MP4, Matroska, MPEG-TS, FLV or AVI"
  fi
  source=(filesrc "location=$file")
}

# known HEX: the name of what a file with these first bytes is, for what people try.
known() {
  case "$1" in
    89504e47*) echo "a PNG picture" ;;
    ffd8ff*) echo "a JPEG picture" ;;
    47494638*) echo "a GIF picture" ;;
    595556344d504547*) echo "YUV4MPEG, raw video" ;;
    25504446*) echo "a PDF document" ;;
    504b0304*) echo "a ZIP archive" ;;
    1f8b*) echo "a gzip archive" ;;
    4f676753*) echo "Ogg" ;;
    52494646*) echo "RIFF" ;;
    000001ba*) echo "MPEG program stream" ;;
    *) echo "unknown" ;;
  esac
}

# scratch: makes a folder for this run's intermediate files, removed at the end, and sets `scratch` to it.
scratch() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
}

# launch LOG PIPELINE...: runs a pipeline with its messages in LOG and stops with one clear line when it fails. What a
# progressreport element in it says goes to standard error as it comes. The array `limit`, where set, is a command that
# runs gst-launch-1.0 under a limit.
limit=()
launch() {
  local log=$1 status=0
  shift
  # gst-launch-1.0 can miss an error that it has just printed, with any element, and wait for ever: end it then.
  bash -c 'echo $$ > "$0"; exec "$@"' "$scratch/process" "${limit[@]}" gst-launch-1.0 -v -m -e --no-position "$@" 2>&1 \
    | tee -- "$log" | awk -v name="$program" -v process="$scratch/process" '
      /^progressreport/ && !/100\.0 %/ { sub(/^[^:]*:[^:]*:[^:]*: /, ""); print name ": " $0; fflush() }
      /^ERROR: from element/ && !ending++ { system("{ read p; sleep 3; kill $p; } < " process " 2> /dev/null &") }
    ' >&2 || status=${PIPESTATUS[0]}
  explain "$log" "$status"
}

# explain LOG STATUS: stops with one clear line if the run that wrote LOG failed.
explain() {
  local log=$1 status=$2 reason detail
  if ((status)) && grep -qE 'reason not-linked|failed delayed linking|Delayed linking failed|no known streams found' "$log"; then
    die "no H.264 in this file ($container): none of its streams is video/x-h264"
  fi
  reason=$(sed -n 's/^ERROR: from element [^ ]*: //p' "$log" | head -n 1)
  if [[ -z $reason ]]; then
    ((status)) || return 0
    ((status > 128)) && die "gst-launch-1.0 was ended by signal $((status - 128))"
    reason=$(sed -n 's/^WARNING: erroneous pipeline: //p; s/^ERROR: //p' "$log" | head -n 1)
    die "${reason:-gst-launch-1.0 ended with status $status: $(tail -n 1 "$log")}"
  fi
  detail=$(grep -A 2 '^Additional debug info:' "$log" | sed -n 3p)
  die "$reason${detail:+ ($detail)}"
}

# caps_of LOG ELEMENT: the last caps that the source pad of ELEMENT (its name) had in a run that wrote LOG.
caps_of() {
  grep -aE "^/GstPipeline:[^ ]*:$2\.GstPad:src: caps = " "$1" | tail -n 1 | sed 's/^[^=]*: caps = //'
}

# field CAPS NAME [DEFAULT]: one field of serialised caps, without its type, quotes and escapes.
field() {
  local value
  value=$(sed -nE "s/.*[ ,]$2=(\([a-zA-Z:]+\))?(\"[^\"]*\"|[^,;]*).*/\2/p" <<< "$1" | tr -d '"\\')
  printf '%s\n' "${value:-${3:-}}"
}

# probe: decodes the first pictures of `source` and sets `coded` and `raw`, the caps behind parser and decoder, and
# `picture_bytes`, the size of a picture in memory, padding included.
probe() {
  launch "$scratch/probe.log" "${source[@]}" ! swifth264parse name=parse ! swifth264dec name=dec \
    ! identity eos-after=2 ! multifilesink "location=$scratch/probe-%d"
  coded=$(caps_of "$scratch/probe.log" parse)
  raw=$(caps_of "$scratch/probe.log" dec)
  [[ -n $raw && -f $scratch/probe-0 ]] || die "no picture could be decoded"
  picture_bytes=$(stat -c %s "$scratch/probe-0")
  rm -f "$scratch"/probe-[0-9]*
}

# describe: one line of what `coded` and `raw` say.
describe() {
  printf 'H.264 %s profile, level %s, %sx%s, %s frames/s, %s, %s, %s\n' \
    "$(field "$coded" profile unknown)" "$(field "$coded" level unknown)" "$(field "$raw" width)" \
    "$(field "$raw" height)" "$(field "$raw" framerate 0/1)" "$(field "$raw" format)" \
    "$(field "$raw" colorimetry 'unspecified colour')" "$(field "$raw" interlace-mode progressive)"
}

# frame_size FORMAT WIDTH HEIGHT: bytes of one tightly packed picture.
frame_size() {
  local format=$1 width=$2 height=$3 bytes=1
  local half=$(((width + 1) / 2))
  [[ $format == *_1[02]LE ]] && bytes=2
  case "$format" in
    I420* | NV12) echo $((bytes * (width * height + 2 * half * ((height + 1) / 2)))) ;;
    Y42B | I422*) echo $((bytes * (width + 2 * half) * height)) ;;
    Y444*) echo $((bytes * 3 * width * height)) ;;
    *) return 1 ;;
  esac
}

# checksum LOG: the MD5 that videocodectestsink made in a run that wrote LOG.
checksum() {
  sed -nE 's/.*conformance\/checksum,.* checksum=\(string\)([0-9a-f]+);.*/\1/p' "$1"
}
