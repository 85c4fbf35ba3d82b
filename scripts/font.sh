#!/usr/bin/env bash
# Makes the two fonts of the project from Inter: inspector/style/inter/inter.woff2 for the page of the inspector, and src/face/font.ts for the
# pages that have to bring their font with them. The results are committed, so that nobody needs this to build.
# Needs npm, and Python with `fonttools` and `brotli` (pip install fonttools brotli).
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm pack --silent --pack-destination "$work" inter-ui@4.1.1 >"$work/name"
tar -xzf "$work/$(cat "$work/name")" -C "$work"
cp "$work/package/LICENSE.txt" inspector/style/inter/LICENSE.txt

# The weights of our styles, and the shape for small sizes.
fonttools varLib.instancer --quiet "$work/package/variable/InterVariable.woff2" opsz=14 wght=400:700 -o "$work/inter.ttf"

# Latin of Western Europe, and the system has the rest; then dashes, quotes, dots and signs; arrows; keys of a keyboard; marks of states.
page=U+20-7E,U+A0-FF,U+2013,U+2014,U+2018-201E,U+2022,U+2026,U+20AC,U+2122,U+2212,U+2248,U+2260,U+2264,U+2265
page=$page,U+2190-2193,U+21B5,U+21E7,U+2303,U+2318,U+2325,U+23CE,U+25CB,U+25CF,U+2713,U+2717
alone=U+20-7E,U+A0-FF,U+2013,U+2014,U+2018,U+2019,U+201C,U+201D,U+2026

subset() { # unicodes, features, file
  pyftsubset "$work/inter.ttf" --unicodes="$1" --layout-features="$2" --flavor=woff2 --output-file="$3" \
    --no-hinting --desubroutinize --name-IDs=0,1,2,13,14 --drop-tables+=DSIG,STAT,meta,MVAR
}

subset "$page" tnum inspector/style/inter/inter.woff2
subset "$alone" "" "$work/alone.woff2"
cat >src/face/font.ts <<TS
// The font of pages that load nothing: Inter, reduced by scripts/font.sh. It is under the SIL Open Font License 1.1
// (inspector/style/inter/LICENSE.txt). It has 22 kB, so it is loaded with the first page.

/** The rule of a style sheet that brings the font \`Inter\`, in Latin letters, with its data. The policy of the page must have \`font-src data:\`. */
export const FONT_FACE: string =
  '@font-face{font-family:Inter;font-weight:400 700;src:url(data:font/woff2;base64,$(base64 -w0 "$work/alone.woff2"))}';
TS
ls -l inspector/style/inter/inter.woff2 "$work/alone.woff2"
