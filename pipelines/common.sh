# SPDX-License-Identifier: MPL-2.0
# The scripts of this folder source this file. They write nothing before they have verified that the input suits
# the script, and an output gets its name when it is complete. `launch` is gst-launch-1.0 with errors of one line.
[[ ${1:-} == --help ]] && exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"

fail() { # MESSAGE [STATUS]
  echo "${0##*/}: $1" >&2
  exit "${2:-1}"
}

# Ends with status 64 unless there are LEAST to MOST arguments, none of them empty.
arguments() { # LEAST MOST ARGUMENT...
  local argument least=$1 most=$2
  shift 2
  (($# >= least && $# <= most)) || fail "expected $(seq -s ' or ' "$least" "$most") arguments, not $#; see --help" 64
  for argument; do [[ -n $argument ]] || fail "an argument is empty, see --help" 64; done
}

# Ends unless FILE can be read, is in CONTAINER and has video of one of CODECS. Sets `codec` (264 or 265), and `sound` to
# the media type of sound, if there is any. The container is a media type, that of the video for a byte stream.
reads() { # FILE CODECS [CONTAINER]
  local caps container
  [[ -e $1 ]] || fail "$1: no such file"
  [[ ! -d $1 ]] || fail "$1: a folder; expected a file"
  [[ -r $1 ]] || fail "$1: cannot be read"
  caps=$(gst-launch-1.0 -v filesrc location="$1" ! parsebin ! fakesink num-buffers=1 2> /dev/null | grep ' caps = ')
  container=$(sed -n 's/.*GstTypeFindElement.* caps = \([^,]*\).*/\1/p' <<< "$caps" | head -n 1)
  codec=$(sed -n 's/.* caps = video\/x-h\(26[45]\).*/\1/p' <<< "$caps" | head -n 1)
  sound=$(sed -n 's/.* caps = \(audio\/[^,]*\).*/\1/p' <<< "$caps" | head -n 1)
  [[ -n $codec ]] || fail "$1: contains no readable H.264 or H.265"
  [[ " $2 " == *" $codec "* ]] || fail "$1: H.$codec; expected H.${2/ / or H.}"
  [[ ${3:-$container} == "$container" ]] || fail "$1: $container; expected $3"
}

# Warns that the sound of FILE, the last file read, is not in the output.
leaves_sound() { # FILE
  [[ -z $sound ]] || echo "${0##*/}: $1: its sound ($sound) is left behind" >&2
}

# Ends if one of these files exists.
absent() { # FILE...
  local file
  for file; do [[ ! -e $file && ! -L $file ]] || fail "$file: already exists"; done
}

# Ends unless OUT can be made. Sets `part`, the name under which it is written, removed at the end.
writes() { # OUT
  absent "$1"
  part=$(mktemp "$(dirname -- "$1")/.${0##*/}-XXXXXX" 2> /dev/null) || fail "$1: its folder cannot be written into"
  trap 'rm -f -- "$part"' EXIT
}

# Renames the file `part` to OUT.
keep() { # OUT
  chmod "$(printf %o $((0666 & ~$(umask))))" "$part"
  absent "$1"
  mv -n -T -- "$part" "$1" || fail "$1: cannot be written"
}

# Ends unless OUT can be created. It is written under its own name, also after Ctrl-C; an empty file is removed.
records() { # OUT
  absent "$1"
  [[ -w $(dirname -- "$1") ]] || fail "$1: its folder cannot be written into"
  recording=$1
  trap '[[ -s $recording ]] || rm -f -- "$recording"' EXIT
  trap : INT
}

# Runs gst-launch-1.0 with these arguments.
launch() { # ARGUMENT...
  local said
  { said=$(gst-launch-1.0 "$@" 2>&1 >&3 3>&-); } 3>&1 && return
  said=$(sed -n 's/^ERROR: \(from element [^ ]*: \)\?//p; s/^WARNING: erroneous pipeline: //p' <<< "$said" | head -n 1)
  fail "${said:-gst-launch-1.0 failed}"
}
