/**
 * Characters that show nothing (Unicode: Default_Ignorable_Code_Point): zero-width characters, direction marks, the soft
 * hyphen, fillers, variation selectors and tags; and control characters that are no white space, but for NUL, which is
 * refused. Kept are those that change how their neighbours look: selectors and tags of an emoji, joiners within one or between
 * letters of a script that has them.
 */
const NOTHING = "\\p{Default_Ignorable_Code_Point}|[^\\P{Cc}\\s\\x85\\0]|[\\ufff9-\\ufffb]"
const INVISIBLE = new RegExp(NOTHING, "u")

const JOINING =
  "[\\p{Script=Arab}\\p{Script=Syrc}\\p{Script=Mong}\\p{Script=Deva}\\p{Script=Beng}\\p{Script=Guru}\\p{Script=Gujr}\\p{Script=Orya}\\p{Script=Taml}\\p{Script=Telu}\\p{Script=Knda}\\p{Script=Mlym}\\p{Script=Sinh}\\p{Script=Khmr}\\p{M}]"
const EMOJI = "[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]"

const MEANT = [
  // a family: person, joiner, person
  `(?<=${EMOJI}\\ufe0f?)\\u200d(?=${EMOJI}|[\\u2640\\u2642\\u2695])`,
  // a picture in place of a sign, and a key: 1️⃣
  `(?<=${EMOJI}|[0-9#*](?=\\ufe0f\\u20e3))\\ufe0f`,
  // the flags of England, Scotland and Wales
  "(?<=\\u{1f3f4}[\\u{e0020}-\\u{e007f}]*)[\\u{e0020}-\\u{e007f}]",
  `(?<=${JOINING})[\\u200c\\u200d](?=${JOINING})`,
  "(?<=\\p{Script=Han})[\\u{e0100}-\\u{e01ef}]",
].join("|")
const INVISIBLE_OR_MEANT = new RegExp(`(${MEANT})|${NOTHING}`, "gu")

/** A text without the characters that nobody sees. */
export function withoutInvisible(text: string): string {
  return INVISIBLE.test(text) ? text.replace(INVISIBLE_OR_MEANT, (_, meant: string | undefined) => meant ?? "") : text
}
