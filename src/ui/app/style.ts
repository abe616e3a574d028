import { BASE_STYLE } from "../style.ts"

/** The style of /app: for phones first, with wider layouts, and without controls in print. */
export const APP_STYLE = `${BASE_STYLE}
[hidden] { display: none !important }
a { color: var(--rank); text-underline-offset: .15em; text-decoration-thickness: 1px }
a:not(:hover) { text-decoration-color: color-mix(in srgb, currentcolor 35%, transparent) }
.skip { position: absolute; left: -100vw; z-index: 2 }
.skip:focus { left: 1rem; top: .5rem; padding: .25rem .5rem; background: var(--card) }
.bar { background: var(--card); border-bottom: 1px solid var(--line) }
.bar > div {
  display: flex; flex-wrap: wrap; gap: 0 1.25rem; align-items: center; max-width: 78rem; margin: 0 auto;
  padding: 0 1rem
}
.home {
  flex: none; white-space: nowrap; display: flex; gap: .5rem; align-items: center; min-height: 3rem;
  font-weight: 700; color: inherit; text-decoration: none
}
.home svg { color: var(--rank) }
.bar nav { display: flex; gap: .15rem; overflow-x: auto; font-size: var(--text-m) }
.find { margin-left: auto } .find input { width: 12rem; max-width: 100% }
.menu { position: relative }
.menu > summary {
  display: flex; align-items: center; min-height: 3rem; max-width: 12rem; padding: 0 .6rem; border: 0;
  font-size: var(--text-m); color: var(--quiet); white-space: nowrap; list-style-position: inside
}
.menu > summary::after { content: "▾"; margin-left: .35rem }
.menu[open] > summary { color: var(--ink) } .menu > summary bdi { overflow: hidden; text-overflow: ellipsis }
.menu > nav, .menu > div {
  position: absolute; z-index: 3; right: 0; display: grid; min-width: 12rem; padding: .4rem; background: var(--card);
  border: 1px solid var(--edge); border-radius: var(--round); box-shadow: 0 .5rem 1.5rem rgb(0 0 0 / .18)
}
.bar .menu nav a { min-height: 2.4rem }
.menu form { display: grid; gap: .25rem; padding: .25rem }
.menu p { margin: 0 }
.menu [aria-pressed=true] { border-color: var(--rank); color: var(--rank) }
.bar nav a, .bar nav button {
  display: flex; align-items: center; min-height: 3rem; padding: 0 .6rem; color: var(--quiet); text-decoration: none;
  white-space: nowrap; border: 0; border-radius: 0; background: none; font: inherit; width: auto; cursor: pointer
}
.bar nav a:hover, .tabs a:hover { color: var(--ink) }
.bar nav [aria-current] { color: var(--ink); font-weight: 600; box-shadow: inset 0 -2px var(--rank) }
.note-line { background: var(--tint); font-size: var(--text-m) }
.note-line p { max-width: 78rem; margin: 0 auto; padding: .5rem 1rem }
main, footer { max-width: 78rem; margin: 0 auto; padding: 0 1rem }
main { padding-top: 1.25rem; padding-bottom: 3rem }
footer { padding-top: 1rem; padding-bottom: 2rem; font-size: var(--text-s); color: var(--quiet) }
footer p { margin: 0; max-width: 60rem }
h2 { margin: 0; font-size: var(--text-l); line-height: 1.3; letter-spacing: -.005em }
h3 { margin: 1rem 0 .25rem; font-size: 1rem; line-height: 1.35 }
p { margin: .25rem 0 .6rem; max-width: 46rem }
code { font: .875em/1.5 var(--mono) }
.quiet { color: var(--quiet) }
.small { font-size: var(--text-s) }
.up { color: var(--up) } .down { color: var(--down) } .gone { color: var(--gone) }
.crumbs { margin: 0 0 .35rem; font-size: var(--text-s) }
.subject { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: center; margin-bottom: .75rem }
.subject h1, .subject p { margin: 0 }
.subject > div { flex: 1 1 14rem; min-width: 0 }
.badge { display: block; flex: none; width: 3rem; height: 3rem }
.subject.tight { margin: 0; flex-wrap: nowrap; gap: .6rem } .subject.tight .badge { width: 2.25rem; height: 2.25rem }
.badge text { font: 700 18px system-ui, sans-serif; fill: #fff; text-anchor: middle }
.b1 { fill: #1d5bbf }
.b2 { fill: #a8430c }
.b3 { fill: #146b39 }
.b4 { fill: #7d3aa0 }
.b5 { fill: #0d6c77 }
.b6 { fill: #a8204f }
.tabs, .scroll {
  background:
    linear-gradient(90deg,
    var(--base) 30%, transparent) 0 0 / 2.5rem 100% no-repeat local,
    linear-gradient(270deg,
    var(--base) 30%, transparent) 100% 0 / 2.5rem 100% no-repeat local,
    linear-gradient(90deg,
    var(--edge), transparent) 0 0 / .75rem 100% no-repeat scroll,
    linear-gradient(270deg,
    var(--edge), transparent) 100% 0 / .75rem 100% no-repeat scroll
}
.tabs { --base: var(--page) } .scroll { --base: var(--card) }
.tabs {
  display: flex; gap: .15rem; margin: 0 -1rem 1.25rem; padding: 0 .6rem; overflow-x: auto;
  border-bottom: 1px solid var(--line); font-size: var(--text-m)
}
.tabs a { padding: .6rem .6rem .55rem; color: var(--quiet); text-decoration: none; white-space: nowrap }
.tabs [aria-current] { color: var(--ink); font-weight: 600; box-shadow: inset 0 -2px var(--rank) }
.card {
  margin: 0 0 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: var(--round);
  break-inside: avoid-page
}
.card > header {
  display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; justify-content: space-between;
  padding: .85rem 1rem .1rem
}
.card > header div { margin: 0; font-size: var(--text-s); color: var(--quiet) }
.inside { padding: .5rem 1rem 1rem }
.inside > :last-child { margin-bottom: 0 }
.columns-2 { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1.25rem; align-items: start }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); margin: 0 0 1.25rem;
  background: var(--card); border: 1px solid var(--line); border-radius: var(--round); overflow: hidden
}
.tiles div { padding: .7rem 1rem; box-shadow: 1px 0 var(--line), 0 1px var(--line) }
.tiles dt { font-size: var(--text-s); color: var(--quiet) }
.tiles dd {
  margin: 0; font-size: 1.375rem; font-weight: 650; line-height: 1.3; letter-spacing: -.01em;
  font-variant-numeric: tabular-nums
}
.tiles dd small { font-size: var(--text-s); font-weight: 400; letter-spacing: 0; color: var(--quiet) }
.columns-3 {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 0 1.25rem;
  align-items: start
}
.scroll { overflow-x: auto }
details > summary {
  padding: .6rem 1rem; border-top: 1px solid var(--line); font-size: var(--text-s); color: var(--quiet)
}
.card .scroll { border-radius: 0 0 var(--round) var(--round) }
table { width: 100%; font-size: var(--text-m); font-variant-numeric: tabular-nums }
caption { text-align: left; padding: .5rem 1rem; color: var(--quiet); font-size: var(--text-s) }
th, td { padding: .5rem .75rem; border-top: 1px solid var(--line); vertical-align: middle }
th:first-child, td:first-child { padding-left: 1rem } th:last-child, td:last-child { padding-right: 1rem }
thead th {
  border-top: 0; font-size: var(--text-s); font-weight: 500; color: var(--quiet); white-space: nowrap;
  vertical-align: bottom
}
thead a { color: inherit; text-decoration: none }
thead a:hover { text-decoration: underline }
thead [aria-sort] a { color: var(--ink); font-weight: 600 }
tbody th { font-weight: 500; overflow-wrap: break-word }
tbody tr:hover { background: var(--soft) }
.num { text-align: right; white-space: nowrap; width: 1% }
.wrap { white-space: normal; min-width: 9rem }
th.pick { width: 1% }
.cut { max-width: 26rem }
.rank { font-size: 1.0625rem; font-weight: 650; color: inherit }
td a.rank:not(:hover) { text-decoration: none }
.spark { display: block; width: 6.5rem; height: 1.7rem }
.spark path { fill: none; stroke: var(--rank); stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round }
.spark .gone { stroke: var(--gone); stroke-width: 2.5; stroke-linecap: square }
.bar-cell { display: grid; grid-template-columns: 2.2rem minmax(2.5rem, 5rem); gap: .4rem; align-items: center }
svg.bar { display: block; width: 100%; height: .4rem; background: none; border: 0; fill: var(--rank) }
svg.bar .all { fill: var(--line) } svg.bar .off { fill: var(--rank); opacity: .35 }
svg.hard { fill: var(--gone) } svg.star { fill: #c98a00 }
.tag {
  display: inline-block; padding: 0 .45rem; border-radius: 1rem; background: var(--soft); color: var(--quiet);
  font-size: .75rem; font-weight: 500; line-height: 1.5
}
.tag.warn { background: var(--warm); color: var(--gone) } .tag.good { color: var(--up) }
.lines { position: relative; height: 16rem; margin: .25rem .35rem 1.75rem 3.25rem }
.lines > svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible }
.lines > svg:last-of-type { pointer-events: none }
.lines text { font: 12px system-ui, sans-serif; fill: var(--quiet); font-variant-numeric: tabular-nums }
.lines.short { height: 9rem }
.whole { white-space: pre-line; overflow-wrap: anywhere }
blockquote { margin: .5rem 0; padding-left: .75rem; border-left: 3px solid var(--line) }
.effects > div { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1rem; padding: .5rem 0 }
.lines .range { stroke-width: 5; opacity: .25 }
.effects p { margin: .1rem 0 }
.effects svg { width: 100%; height: 1.75rem; overflow: visible }
.effects .off { fill: var(--rank); opacity: .35 } .effects .zero { fill: var(--quiet) }
.effects circle { fill: var(--rank) } .effects circle.up { fill: var(--up) } .effects circle.down { fill: var(--down) }
.end { text-anchor: end } .mid { text-anchor: middle }
.lines path { vector-effect: non-scaling-stroke; fill: none; stroke-linecap: round; stroke-linejoin: round }
.lines .band { fill: var(--soft) }
.lines .grid { stroke: var(--line) }
.lines .line { stroke-width: 2 }
.lines .dots { stroke-width: 6 }
.lines .gone { stroke-width: 5; stroke-linecap: square }
.lines .event { stroke: var(--quiet); stroke-dasharray: 2 4 }
.lines .compared { stroke-dasharray: 5 5; opacity: .75 } .lines .compared .dots { stroke-dasharray: none }
.chart { margin: 0 } .chart .over { display: flex; gap: .5rem 1rem; justify-content: space-between }
.plot { position: relative; touch-action: pan-y; cursor: crosshair }
.plot:not(.lines) { margin-top: .5rem }
.legend button {
  min-height: 0; padding: .3rem .35rem; margin: 0 .1rem 0 -.35rem; border-color: transparent; background: none;
  line-height: 1
}
.legend button svg { margin: 0 } .legend [aria-pressed=false] { opacity: .3 }
.legend li:has([aria-pressed=false]) bdi { text-decoration: line-through }
.rule { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--ink); pointer-events: none }
.cross {
  position: absolute; z-index: 2; top: .35rem; width: max-content; max-width: min(24rem, 62vw); margin: 0 .6rem;
  padding: .45rem .65rem; background: var(--card); border: 1px solid var(--edge); border-radius: var(--round-s);
  box-shadow: 0 .3rem 1rem rgb(0 0 0 / .18); font-size: var(--text-s); line-height: 1.4; pointer-events: none
}
.cross.before { transform: translateX(calc(-100% - 1.2rem)) }
.cross p { margin: 0; font-weight: 600 } .cross ul { margin: 0; padding: 0; list-style: none }
.cross svg, th > svg { position: static; width: .7rem; height: .7rem; margin-right: .35rem }
.cross small, .data small { color: var(--quiet); font-weight: 400; font-size: .75rem }
.cross .event, .cross .by { color: var(--quiet) }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.over > a { white-space: nowrap } .legend { align-items: center }
.data small { display: block } .data th time { white-space: nowrap }
.view { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: end; margin: 0 0 1.25rem }
.view label, .view .field > span { display: block; font-size: var(--text-s); color: var(--quiet) }
.view .field { min-width: 0 } .view select { max-width: 100% }
.view .periods { min-height: 2.4rem; gap: .25rem; font-size: var(--text-m) }
.view > details > summary { padding: .6rem 0; border: 0 }
.view > details > div { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; padding-bottom: .25rem }
.data { margin-top: .35rem } .data > summary { padding: .35rem 0; border: 0 }
.data .scroll { max-height: 22rem; overflow: auto } .data thead th { white-space: normal }
.data th { min-width: 5.5rem; overflow-wrap: break-word }
.data thead th { position: sticky; top: 0; background: var(--card) }
.s1 { stroke: var(--c1); fill: var(--c1) }
.s2 { stroke: var(--c2); fill: var(--c2) }
.s3 { stroke: var(--c3); fill: var(--c3) }
.s4 { stroke: var(--c4); fill: var(--c4) }
.s5 { stroke: var(--c5); fill: var(--c5) }
.s6 { stroke: var(--c6); fill: var(--c6) }
.s7 { stroke: var(--c7); fill: var(--c7) }
.s8 { stroke: var(--c8); fill: var(--c8) }
.legend {
  display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: .35rem 0 .75rem; padding: 0; list-style: none;
  font-size: var(--text-m)
}
.legend svg { width: .8rem; height: .8rem; margin-right: .4rem; vertical-align: -.05rem }
.reading { min-height: 1.4em; margin: .25rem 0 0; font-size: var(--text-s); color: var(--quiet) }
svg.columns { display: block; width: 100%; height: 5.5rem; fill: var(--rank) }
svg.columns .unknown { fill: var(--soft) }
.ends {
  display: flex; justify-content: space-between; max-width: none; margin: .15rem 0 0; font-size: var(--text-s);
  color: var(--quiet)
}
.filters { display: flex; flex-wrap: wrap; gap: .5rem .6rem; align-items: end; padding: .75rem 1rem }
.filters label { display: block; font-size: var(--text-s); color: var(--quiet) }
.filters label.grow { flex: 1 1 11rem }
.subject .filters { padding: 0 }
input, select, textarea, button, .button {
  font: inherit; font-size: var(--text-m); min-height: 2.4rem; padding: .3rem .6rem; border: 1px solid var(--edge);
  border-radius: var(--round-s); background: var(--card); color: var(--ink)
}
.filters input, .filters select, .filters textarea { display: block; width: 100%; margin-top: .15rem }
input[type=checkbox] {
  min-height: 0; width: 1.05rem; height: 1.05rem; margin: 0; vertical-align: -.15rem; accent-color: var(--rank)
}
button, .button { cursor: pointer; font-weight: 600; text-decoration: none; display: inline-block; line-height: 1.6 }
button.main, .button.main { background: var(--rank); border-color: var(--rank); color: var(--page) }
button.quiet, .button.quiet {
  background: none; border-color: transparent; font-weight: 500; text-decoration: underline;
  text-underline-offset: .15em
}
.field { flex: 0 1 auto; min-width: min(100%, 9rem); max-width: 100% }
.field.grow { flex: 1 1 14rem }
.filters .field textarea { width: 100% }
.send { display: flex; gap: .5rem; align-items: end }
.hint, .wrong { margin: .2rem 0 0; font-size: var(--text-s); line-height: 1.4 } .hint { color: var(--quiet) }
.wrong { color: var(--down); font-weight: 600 }
[aria-invalid] { border-color: var(--down); box-shadow: inset 0 0 0 1px var(--down) }
th.matrix { min-width: 9rem; max-width: 12rem; white-space: normal } th.matrix .subject p { overflow-wrap: anywhere }
.apps.three { grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)) }
.roomy > .checks, .roomy > .field:has(textarea) { flex: 1 1 100% } .plain > summary { border: 0 }
.matrix-table { width: auto; min-width: min(100%, 44rem) }
.matrix-table tbody th { position: sticky; left: 0; background: var(--card) }
.adds > .send { padding: 0 1rem .75rem } .adds > .filters { padding-bottom: .5rem }
.range .row { align-items: start } .chart td { white-space: nowrap }
fieldset.range { margin: 0; padding: 0; border: 0; min-width: 0 } .range .field { min-width: 5rem; max-width: 8rem }
.range legend { padding: 0; font-size: var(--text-s); color: var(--quiet) }
fieldset.checks { margin: 0; padding: 0; border: 0; min-width: 0 }
.checks legend { padding: 0; font-size: var(--text-s); color: var(--quiet) }
.filters .checks label {
  display: inline-flex; gap: .4rem; align-items: center; margin: .25rem .9rem .25rem 0; font-size: var(--text-m);
  color: var(--ink)
}
.filters .checks input { width: 1.05rem; margin: 0 }
.toast {
  position: fixed; z-index: 4; left: 50%; bottom: 1rem; translate: -50% 0; width: max-content;
  max-width: calc(100vw - 2rem); box-shadow: 0 .5rem 1.5rem rgb(0 0 0 / .18)
}
.picked {
  position: sticky; bottom: 0; display: flex; flex-wrap: wrap; gap: .4rem .5rem; align-items: center;
  padding: .6rem 1rem; background: var(--card); border-top: 1px solid var(--edge); font-size: var(--text-s)
}
.picked input { width: 8rem }
form:has(.picked) { counter-reset: picked }
form:has(.picked) input:checked { counter-increment: picked }
.picked .count::before { content: counter(picked) " selected" }
@supports selector(:has(a)) { form:has(.picked):not(:has(input:checked)) .picked { display: none } }
.line { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between }
.line .subject.tight { flex-basis: 10rem } .line .subject { margin: 0; flex: 1 1 14rem; flex-wrap: nowrap }
.line .subject > div { flex-basis: 0 }
.row { display: inline-flex; gap: .5rem; align-items: center }
.deeds { margin: 0 0 1rem }
.above { margin: 0 0 .75rem }
progress { flex: 1 1 10rem; max-width: 20rem; accent-color: var(--rank) }
.notice {
  display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: 0 0 1rem; padding: .6rem 1rem;
  background: var(--tint); border: 1px solid var(--edge); border-radius: var(--round)
}
.notice p { margin: 0; flex: 1 1 14rem }
.notice ul { margin: 0; padding-left: 1.1rem; flex-basis: 100% }
.notice details { flex-basis: 100%; order: 1 }
.notice.bad { background: var(--warm); border-color: var(--gone) }
.stacked { display: grid; gap: .9rem; max-width: 40rem }
.stacked .field label, .stacked legend { font-weight: 600; font-size: var(--text-m); color: var(--ink) }
.stacked .field > :is(input, select, textarea) { display: block; width: 100%; margin-top: .2rem }
.stacked .checks label { display: grid; grid-template-columns: auto 1fr; gap: .15rem .5rem; align-items: start }
.stacked .checks label { padding: .25rem 0; font-weight: 400 }
.stacked .checks input { margin-top: .2rem }
input[type=radio] { min-height: 0; width: 1.05rem; height: 1.05rem; accent-color: var(--rank) }
.stacked details > .field { margin-top: .75rem }
img.badge { border-radius: .7rem; object-fit: cover }
.shots { display: flex; gap: .4rem; overflow-x: auto }
.shots img { flex: none; height: auto; border-radius: var(--round-s) }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .35rem }
.list details > summary, .stacked details > summary { padding: .3rem 0; border: 0 }
.pages, .periods {
  display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; margin: 0; padding: .75rem 1rem;
  font-size: var(--text-m)
}
.periods { padding: 0; gap: .1rem; font-size: var(--text-s) }
.periods a { padding: .15rem .5rem; border-radius: var(--round-s); color: var(--quiet); text-decoration: none }
.periods [aria-current] { background: var(--soft); color: var(--ink); font-weight: 600 }
.facts {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 9.25rem), 1fr)); gap: .6rem 1rem;
  margin: .5rem 0
}
.facts dt { font-size: var(--text-s); color: var(--quiet) } .facts dd { margin: 0 }
.list { margin: 0; padding: 0; list-style: none }
.list > li { padding: .7rem 1rem; border-top: 1px solid var(--line) }
.list > li:first-child { border-top: 0 } header + .list > li:first-child { border-top: 0; padding-top: .4rem }
.inside .list > li { padding-left: 0; padding-right: 0 }
.list p { margin: .1rem 0; max-width: 60rem }
.fresh { box-shadow: inset 3px 0 var(--rank) }
.stars { letter-spacing: .05em; color: #8a5f00; white-space: nowrap }
@media (prefers-color-scheme: dark) { :root:not([data-scheme=light]) .stars { color: #e3b341 } }
[data-scheme=dark] .stars { color: #e3b341 }
.spread {
  display: grid; grid-template-columns: auto minmax(4rem, 1fr) auto; gap: .3rem .6rem; align-items: center;
  margin: .25rem 0; font-size: var(--text-m)
}
del {
  background: color-mix(in srgb, var(--down) 14%, transparent); text-decoration-color: var(--down);
  border-radius: .2rem
}
ins {
  background: color-mix(in srgb, var(--up) 16%, transparent); text-decoration: none; border-radius: .2rem;
  font-weight: 500
}
.swap {
  display: grid; gap: .35rem; margin: .4rem 0; padding: .6rem .75rem; background: var(--soft);
  border-radius: var(--round-s); font-size: var(--text-m)
}
.swap p { margin: 0 }
.swap bdi { white-space: pre-line }
.swap span:first-child { display: inline-block; min-width: 3.75rem; color: var(--quiet); font-size: var(--text-s) }
.empty { padding: 1.75rem 1.25rem; text-align: center }
.empty p { margin: .25rem auto .5rem } .empty .what { font-weight: 600 }
.empty pre {
  display: inline-block; margin: .35rem 0; padding: .5rem .8rem; text-align: left; white-space: pre-wrap;
  font: .875rem/1.5 var(--mono); background: var(--soft); border: 1px solid var(--line);
  border-radius: var(--round-s)
}
svg.qr { display: block; width: 12.5rem; max-width: 100%; height: auto; margin-bottom: 1rem; fill: #000 }
ol.codes { columns: 14rem; margin: 0 0 1rem; font-size: 1rem }
.hash { font: .8125rem/1.4 var(--mono); overflow-wrap: anywhere }
.apps {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 1rem;
  margin: 0 0 1.25rem; padding: 0; list-style: none
}
.apps > li {
  position: relative; padding: 1rem; background: var(--card); border: 1px solid var(--line);
  border-radius: var(--round)
}
.apps > li:hover { border-color: var(--edge) }
.apps a.cover::after { content: ""; position: absolute; inset: 0; border-radius: var(--round) }
.apps .subject { margin: 0 0 .5rem; flex-wrap: nowrap; align-items: flex-start } .apps h2 { font-size: 1rem }
.apps .subject > div { flex-basis: 0 }
.apps a.cover { color: inherit; text-decoration: none }
.apps a.cover:focus-visible { outline: none }
.apps a.cover:focus-visible::after { outline: 3px solid var(--rank); outline-offset: 2px }
.trend { display: grid; grid-template-columns: minmax(5rem, 7.5rem) 1fr; gap: .25rem .75rem; align-items: center }
.trend p { margin: 0 }
.trend p:only-child { grid-column: 1 / -1 }
.trend .spark { width: 100%; height: 2.25rem } .spark path { vector-effect: non-scaling-stroke }
.movers { margin: .35rem 0 .5rem; padding: 0; list-style: none }
.movers a, .apps dd a { position: relative; z-index: 1 }
.apps > li > p { margin: .25rem 0 }
.apps dd small { font-weight: 400 }
.line > .filters { padding-left: 0; padding-right: 0 } .line > .deeds { margin: 0 }
.event { color: inherit }
.apps dl { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 }
.apps dt { font-size: var(--text-s); color: var(--quiet) }
.apps dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums }
@media (min-width: 62rem) {
  .columns-2 { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) }
  .columns-2.wide-left { grid-template-columns: minmax(0, 5fr) minmax(0, 3fr) }
  .effects > div { grid-template-columns: 13rem minmax(0, 1fr) 15rem; align-items: center }
  .effects > div > p:last-child { grid-column: 2 / -1 }
  .effects > .ends { margin: 0 16rem 0 14rem }
  main { padding-top: 1.75rem }
  .tabs { margin: 0 0 1.5rem; padding: 0 }
}
@media (max-width: 40rem) {
  .bar > div { gap: 0 }
  .bar > div { flex-wrap: wrap; padding: 0 .75rem }
  .bar > div > nav { order: 5; flex: 1 0 auto }
  .find { order: 6; flex: 1 1 8rem; margin: 0 0 .4rem }
  .find input { width: 100% }
  .bar .menu { margin-left: auto } .bar .menu + .menu { margin-left: 0 } .menu > summary { max-width: 8rem }
  .rows { display: block }
  .rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .rows tbody { display: block } .rows caption { display: block }
  .rows tr {
    display: grid; grid-template-columns: 1fr auto auto; gap: .1rem .9rem; align-items: center; padding: .65rem 1rem;
    border-top: 1px solid var(--line)
  }
  .rows th, .rows td { display: block; padding: 0; border: 0 }
  .rows th:first-child, .rows td:first-child { padding: 0 }
  .rows td:last-child { padding: 0 }
  .rows .wide { display: none }
  .rows tbody th { grid-row: 1 / span 2 } .rows tr:has(> .pick) { grid-template-columns: auto 1fr auto auto }
  .rows td.pick { grid-row: 1 / span 2; align-self: center } .rows td.pick input { width: 1.4rem; height: 1.4rem }
  .rows td.row-2 { grid-row: 2; grid-column: -3 / -1; justify-self: end }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(6.5rem, 1fr)) } .tiles div { padding: .6rem .8rem }
  .tiles dd { font-size: 1.2rem; white-space: nowrap } .tiles dd small { white-space: normal }
  .lines { height: 14rem } .lines .spare { display: none }
}
@media print {
  .bar nav, .menu, .find, .tabs, .filters, .periods, .pages, .picked, .skip, .note-line, .notice, .pick {
    display: none
  }
  body { font-size: .8rem }
  main { max-width: none; padding-top: 0 }
  .card, .tiles, .apps > li { border-color: #bbb }
  tr { break-inside: avoid }
}
`
