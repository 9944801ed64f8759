#!/bin/sh
# Renders the pictures of docs/examples.md; first simulates scenes without results in out (half an hour for all).
#
# usage: example_pictures.sh [NAME ...]    names of examples, such as demo or high_order/rollers; default: all
# Those of examples/stress and of the compactor take hours and are rendered manually: docs/benchmarks.md, docs/contact_potential.md.
set -eu
cd "$(dirname "$0")/.."
chosen=" $* "

# picture EXAMPLE OPTIONS...
picture() {
  example=$1
  shift
  case $chosen in '  ' | *" $example "*) ;; *) return 0 ;; esac
  run=out/examples/$example
  [ -e "$run/summary.json" ] || build/release/noli run "examples/$example.json" -o "$run" --quiet
  name=$(echo "$example" | tr / _)
  scripts/render.py "$run" "docs/images/examples/$name.png" --size 400x300 "$@"
}

# The same for the best scene that a design finds.
designed() {
  example=$1
  shift
  case $chosen in '  ' | *" $example "*) ;; *) return 0 ;; esac
  run=out/examples/$example
  if [ ! -e "$run/summary.json" ]; then
    build/release/noli design "examples/$example.json" -o "${run}_design"
    build/release/noli run "${run}_design/best.json" -o "$run" --quiet
  fi
  name=$(echo "$example" | tr / _)
  scripts/render.py "$run" "docs/images/examples/$name.png" --size 400x300 "$@"
}

picture demo --frame 40
picture guide/first --frame 22
picture guide/press --frame 45 --transparent plate --view=25,15
picture falling_blocks --frame 50
picture chain --frame 60 --view=60,10
picture twisting_rod --frame 100
picture pressed_ball --frame 120 --transparent plate
picture ball_squish --frame 50 --transparent top --transparent bottom --view=30,8
picture ball_bounce --frame 14 --view=30,5
picture ball_in_box --frame 20 --transparent box
picture block_slide --frame 100 --view=10,12
picture grasp --frame 130 --view=30,30
picture slit_block --frame 20 --field von_mises --view=0,8
picture smooth_contact --frame 100
picture stick_slip --frame 60 --field von_mises --view=0,8
picture cloth --frame 60
picture gripper --frame 100 --view=30,12
picture band_on_cone --frame 95 --view=30,25 --hide pusher
picture twenty_bodies --frame 40 --view=30,35
picture sewn --frame 45 --view=30,20
picture suspension --frame 30 --view=25,12
picture rubber --frame 10 --field von_mises --view=30,30
picture fibres --frame 10 --field von_mises --view=30,30
picture viscous_balls --frame 120
picture bent_bars --field plastic_strain --view=25,20 --hide roller
picture card_stack --frame 60 --view=15,4
picture thin/sleeve --frame 38
picture thin/tyre --frame 100
picture thin/reef_knot --view=0,0
picture thin/rope_and_ring --frame 63 --view=20,15
picture thin/net --frame 45 --view=50,15
picture thin/noodles --view=0,50
picture thin/dress --frame 60 --view=20,5
picture thin/layers --view=20,10
picture rods --frame 14 --view=30,25
picture plane_strain --frame 100 --field von_mises --view=0,0
picture curved_ball --frame 60
picture high_order/bending_beam
picture high_order/bouncing_ball --frame 120
picture high_order/rolling_ball --frame 20
picture high_order/mat_twist
picture high_order/nut_and_bolt --frame 40
picture high_order/rollers --frame 35 --view=40,15
picture high_order/truss_compression --frame 50 --hide press
picture geometric/mat_twist --frame 150
designed design/friction --frame 20 --view=30,20
designed design/young --frame 20 --view=30,10
designed design/throw --frame 60 --view=20,15
# begun EXAMPLE OPTIONS...: the start of a design, for docs/design_problems.md
begun() {
  example=$1
  shift
  case $chosen in '  ' | *" $example "*) ;; *) return 0 ;; esac
  run=out/examples/${example}_start
  [ -e "$run/summary.json" ] || build/release/noli run "examples/$example.json" -o "$run" --quiet
  scripts/render.py "$run" "docs/images/examples/$(echo "$example" | tr / _)_start.png" --size 400x300 "$@"
}
designed design/absorber --view=0,0
designed design/plier --view=0,0
begun design/absorber --view=0,0
begun design/plier --view=0,0
