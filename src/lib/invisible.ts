/**
 * Invisible characters (Unicode: Default_Ignorable_Code_Point): zero-width characters, direction marks, the soft
 * hyphen, fillers, variation selectors and tags; also control characters that are not white space, except NUL, which is
 * refused. Characters that change the look of their neighbours are not removed: selectors and tags of an emoji, and
 * joiners within an emoji or between letters of a script that uses them.
 */
const NOTHING = "\\p{Default_Ignorable_Code_Point}|[^\\P{Cc}\\s\\x85\\0]|[\\ufff9-\\ufffb]"
const INVISIBLE = new RegExp(NOTHING, "u")

const JOINING_SCRIPTS = "Arab Syrc Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr".split(" ")
const JOINING = `[${JOINING_SCRIPTS.map((script) => `\\p{Script=${script}}`).join("")}\\p{M}]`
const EMOJI = "[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]"

const MEANT = [
  // A family: person, joiner, person.
  `(?<=${EMOJI}\\ufe0f?)\\u200d(?=${EMOJI}|[\\u2640\\u2642\\u2695])`,
  // A sign shown as an emoji, and a keycap: 1️⃣.
  `(?<=${EMOJI}|[0-9#*](?=\\ufe0f\\u20e3))\\ufe0f`,
  // The flags of England, Scotland and Wales.
  "(?<=\\u{1f3f4}[\\u{e0020}-\\u{e007f}]*)[\\u{e0020}-\\u{e007f}]",
  `(?<=${JOINING})[\\u200c\\u200d](?=${JOINING})`,
  "(?<=\\p{Script=Han})[\\u{e0100}-\\u{e01ef}]",
].join("|")
const INVISIBLE_OR_MEANT = new RegExp(`(${MEANT})|${NOTHING}`, "gu")

/** Removes invisible characters from a text. */
export function withoutInvisible(text: string): string {
  return INVISIBLE.test(text) ? text.replace(INVISIBLE_OR_MEANT, (_, meant: string | undefined) => meant ?? "") : text
}
