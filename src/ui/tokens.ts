/** The colours of the dark scheme, which the system or the person chooses. */
const DARK = `
    --page: #121315; --card: #1a1c1f; --ink: #eceef0; --quiet: #a3a8b0; --line: #2c3035; --edge: #454a51;
    --soft: #23262a;
    --rank: #7db1ff; --tint: #1c2a40; --gone: #f0a066; --up: #6fd195; --down: #ff9d8a; --warm: #33271a;
    --c1: #7db1ff; --c2: #f0a066; --c3: #6fd195; --c4: #d3a1f5;
    --c5: #5fd0dc; --c6: #ff9ab8; --c7: #d6d36a; --c8: #b6bcc6;
`

/**
 * The design tokens of all pages: colours, type sizes, spacing and corners. In light and dark, ink and quiet text have
 * a contrast of at least 4.5 on page, card and soft; chart lines have at least 3.
 */
export const TOKENS = `
:root {
  color-scheme: light dark;
  --page: #f7f7f5; --card: #fff; --ink: #17191c; --quiet: #5a5f67; --line: #e1e3e6; --edge: #c9cdd2;
  --soft: #f0f1f3;
  --rank: #1d5bbf; --tint: #e8f0fc; --gone: #a8480f; --up: #14693a; --down: #a8341f; --warm: #fdf1e3;
  --c1: #1d5bbf; --c2: #b3470b; --c3: #14793f; --c4: #8a3fb0;
  --c5: #0f7a86; --c6: #b32357; --c7: #6b6a17; --c8: #4b5563;
  --text-s: .8125rem; --text-m: .9375rem; --text-l: 1.125rem; --text-xl: 1.625rem;
  --gap: 1rem; --round: .625rem; --round-s: .375rem;
  --mono: ui-monospace, SFMono-Regular, Menlo, monospace;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-scheme=light]) {${DARK}}
}
:root[data-scheme=light] { color-scheme: light }
:root[data-scheme=dark] {${DARK}color-scheme: dark }
@media print {
  :root, :root[data-scheme] {
    color-scheme: light;
    --page: #fff; --card: #fff; --ink: #000; --quiet: #444; --line: #bbb; --edge: #999; --soft: #eee;
    --rank: #1d5bbf; --tint: #eee; --gone: #a8480f; --up: #000; --down: #000; --warm: #eee;
  }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
}
`
