import type { TextProblem, TextRule } from "./check.ts"
import { type PhraseList, phrasesIn } from "./phrase-list.ts"

/**
 * Fails on words that claim how many people share an opinion, in the text's language or in English. A sentence about
 * quotes must not contain such words.
 */
export const quantities: TextRule = (text, { language }): TextProblem[] =>
  [...new Set([language, "en"])]
    .flatMap((read) => phrasesIn(text, QUANTITIES, read))
    .map((what) => ({ rule: "quantities", what }))

const QUANTITIES: PhraseList = {
  en:
    "most many everyone everybody nobody no_one all_users all_reviewers all_players half majority minority several " +
    "numerous countless dozens hundreds thousands millions percent per_cent few always never a_lot_of_users " +
    "a_lot_of_people twice",
  de:
    "die_meisten viele vielen alle_nutzer alle_spieler jeder niemand keiner hälfte mehrheit minderheit mehrere " +
    "zahlreiche dutzende hunderte tausende millionen prozent wenige immer nie",
  tr:
    "çoğu çoğunluk pek_çok birçok herkes hiç_kimse hiçbiri yarısı birkaç sayısız onlarca yüzlerce binlerce " +
    "milyonlarca yüzde her_zaman asla",
  es:
    "la_mayoría muchos muchas todos_los_usuarios todo_el_mundo nadie mitad minoría varios varias numerosos decenas " +
    "cientos miles millones por_ciento pocos pocas siempre nunca",
  fr:
    "la_plupart beaucoup_d' tous_les_utilisateurs tout_le_monde personne_ne moitié majorité minorité plusieurs " +
    "nombreux nombreuses dizaines centaines milliers millions pour_cent pourcent toujours jamais",
  pt:
    "a_maioria muitos muitas todos_os_usuários todos_os_utilizadores toda_a_gente todo_mundo ninguém metade minoria " +
    "vários várias inúmeros dezenas centenas milhares milhões por_cento poucos poucas sempre nunca",
  ru:
    "большинство многие все_пользователи все_игроки никто половина меньшинство несколько десятки сотни тысячи " +
    "миллионы процентов немногие всегда никогда",
  ja: "ほとんどの 多くの 大多数 大半 過半数 半数 全員 誰もが 誰も 数人 数十 数百 数千 何百 何千 パーセント 割の 必ず",
  ko: "대부분 많은_사용자 많은_사람 다수 과반수 절반 모두가 모든_사용자 아무도 여러_사용자 수십 수백 수천 퍼센트 항상 절대",
  "zh-Hans":
    "大多数 多数 许多 很多用户 很多人 所有人 所有用户 大家都 没有人 一半 半数 少数 几个用户 数十 数百 数千 百分之 总是 从不",
}
