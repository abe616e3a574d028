import type { TextProblem, TextRule } from "./check.ts"
import { type PhraseList, phrasesIn } from "./phrase-list.ts"

/** Fails on claims such as "the best" or "number one", unless a source has them. */
export const superlatives: TextRule = (text, { language, sources }): TextProblem[] => {
  const sourcePhrases = new Set(sources.flatMap((source) => phrasesIn(source, SUPERLATIVES, language)))
  return phrasesIn(text, SUPERLATIVES, language)
    .filter((phrase) => !sourcePhrases.has(phrase))
    .map((what) => ({ rule: "superlatives", what }))
}

const SUPERLATIVES: PhraseList = {
  en:
    "the_best number_one no.1 top_rated top-rated award-winning award_winning most_popular most_loved leading " +
    "world's world-class fastest easiest ultimate unrivalled unrivaled #1 guaranteed",
  de:
    "der_beste die_beste das_beste die_besten bester beste nummer_eins beliebteste* führende* preisgekrönt* " +
    "schnellste* einfachste* weltweit_führend* garantiert ultimative*",
  tr: "en_iyi en_popüler bir_numara* ödüllü lider en_hızlı en_kolay dünyanın_en garantili",
  es:
    "el_mejor la_mejor los_mejores las_mejores número_uno más_popular líder galardonad* premiad* garantizad* " +
    "definitiv*",
  fr: "le_meilleur la_meilleure les_meilleurs les_meilleures numéro_un le_plus_populaire leader primé* garanti* ultime",
  pt: "o_melhor a_melhor os_melhores as_melhores número_um mais_popular líder premiad* garantid* definitiv*",
  ru: "лучш* номер_один самый_популярный самое_популярное лидер* отмечен_наградами гарантирован*",
  ja: "最高の 最も人気 世界一 日本一 ナンバーワン 業界初 受賞 必ず 絶対",
  ko: "최고의 1위 가장_인기 세계_최고 업계_최초 수상 보장",
  "zh-Hans": "最好 最佳 第一 最受欢迎 领先 获奖 保证 顶级 最强",
}
