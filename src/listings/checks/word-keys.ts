import { foldText } from "../../lib/matching.ts"
import { isPlain, normalForm } from "../../lib/normal-form.ts"

/** The spellings under which a word is compared. */
export interface WordKeys {
  /**
   * The same for every spelling of a word: case, width, composition, ß and vowel points are ignored; Turkish i and ı
   * differ.
   */
  key: string
  /** The spelling of tracked keywords: like `key`, but Turkish i and ı are the same letter. */
  term: string
  /** The same for every form of a word: without accents, and without a plural ending where that is safe to detect. */
  loose: string
}

export function wordKeys(text: string, language: string): WordKeys {
  if (language !== "tr" && isPlain(text)) return plainKeys(text, language)
  const wide = normalForm(text, "NFKC")
  const term = unpointed(foldText(wide))
  const key = language === "tr" ? unpointed(normalForm(wide.toLocaleLowerCase("tr"), "NFC")) : term
  return { key, term, loose: singular(unaccented(term), language) }
}

/** Returns the keys of an ASCII word: a fast path, since its letters have no other forms. */
function plainKeys(text: string, language: string): WordKeys {
  const term = foldText(text)
  return { key: term, term, loose: singular(term, language) }
}

/** Removes vowel points, cantillation and the stroke that only stretches a word. Replaces ß by ss. */
function unpointed(text: string): string {
  return text.replace(POINTS, "").replaceAll("ß", "ss").replaceAll("ς", "σ")
}

const POINTS = /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc]/g

/** Removes accents from Latin and Greek letters only. In other scripts, marks are vowels or form other letters. */
function unaccented(text: string): string {
  const plain = normalForm(text, "NFD").replace(/([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, "$1")
  return normalForm(plain, "NFC")
    .replaceAll("ё", "е")
    .replace(/[أإآٱ]/g, "ا")
    .replaceAll("ى", "ي")
}

/** Removes plural endings of the languages where the ending alone identifies them. */
function singular(word: string, language: string): string {
  if (word.length < 4) return word
  if (language === "en") return englishSingular(word)
  if (["es", "pt", "ca"].includes(language)) return word.replace(/(?<=[aeio])s$|(?<=[lnrdz])es$/, "")
  if (language === "fr") return word.replace(/(?<=[^aiu]u|[^su])[sx]$/, "")
  return word
}

function englishSingular(word: string): string {
  if (/(ss|us|is)$/.test(word)) return word
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith("s") ? word.slice(0, -1) : word
}
