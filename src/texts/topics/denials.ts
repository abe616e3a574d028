import type { WritingLanguage } from "../languages.ts"
import { topicsOf } from "./find-topics.ts"
import type { Topic } from "./topics.ts"

/** Returns the topics that a text only denies, as in "no ads at all" or "it never crashes". */
export function deniedIn(text: string, languages: readonly WritingLanguage[], topics: readonly Topic[]): Topic[] {
  return topics.filter((topic) => {
    const left = (DENIALS[topic] ?? []).reduce((rest, denial) => rest.replace(denial, " … "), text)
    return left !== text && !topicsOf(left, languages).includes(topic)
  })
}

/**
 * Words allowed between a negation and the denied word, in languages that separate words. "More" is excluded, since "no
 * more ads" is a request.
 */
const BETWEEN = {
  en:
    "(?:any|an?|the|of|single|ever|even|once|really|had|have|has|having|get|gets|got|seen|see|shows?|contains?|" +
    "annoying|in-app|intrusive|stupid|issues?|problems?|with|been|that|so|are|there|is|experienced?|encountered)",
  de: "(?:ein(?:e|en|zige[nr]?)?|so|zu|je|jemals|wirklich|nervige[nr]?|lästige[nr]?|aufdringliche[nr]?|probleme?|mit)",
}

/** The denied word must not be part of another term, such as "ad removal". */
const NO_FIX = "(?![\\p{L}-]|\\s+(?:removal|remover|blockers?|fix(?:es|ed)?|reports?))"

function english(words: string): RegExp {
  const negation =
    "(?<!\\p{L})(?:no|never|not|without|zero|free\\s+of|hardly|rarely|(?:do|does|did|is|has|have|wo)n['’]?t)"
  return new RegExp(
    `${negation}(?:\\s+${BETWEEN.en}){0,4}\\s+(?:${words})${NO_FIX}|(?<!\\p{L})(?:${words})[-\\s]free(?!\\p{L})`,
    "giu",
  )
}

function german(words: string): RegExp {
  const negation = "(?<!\\p{L})(?:kein(?:e[rnms]?)?|nie|niemals|nicht|ohne|null)"
  return new RegExp(`${negation}(?:\\s+${BETWEEN.de}){0,3}\\s+(?:${words})(?!\\p{L})`, "giu")
}

/** Returns a pattern for a word directly after a negation, in Spanish, French, Portuguese and Russian. */
function plainly(negation: string, words: string): RegExp {
  return new RegExp(`(?<!\\p{L})(?:${negation})\\s*(?:\\p{L}+\\s+)?(?:${words})`, "giu")
}

const WITHOUT =
  "sin|no\\s+(?:hay|tiene|trae|tienen)|ning[uú]n|sans|pas\\s+de|pas\\s+d['’]|aucune?|jamais\\s+de|sem|" +
  "n[aã]o\\s+(?:tem|h[aá]|possui)|nenhuma?|z[eé]ro|cero"
const BEZ = "без|нет|нету|никакой|никаких"

/** Topics whose absence is good. Topics whose absence is a complaint, such as notifications, are left out. */
const DENIALS: Readonly<Partial<Record<Topic, readonly RegExp[]>>> = {
  ads: [
    english("ads?|adverts?|advertisements?|commercials?|advertising"),
    german("werbung|werbungen|werbeanzeigen|reklame"),
    /(?<!\p{L})werbefrei\p{L}*|(?<!\p{L})reklams[ıi]z\p{L}*/giu,
    plainly(WITHOUT, "anuncios?|publicidad\\p{L}*|propagandas?|pubs?(?!\\p{L})|publicit[ée]s?|an[uú]ncios?"),
    /(?<!\p{L})hi[çc]\s+reklam\p{L}*|(?<!\p{L})reklam\p{L}*\s+(?:yok|[çc][ıi]km[ıi]yor)/giu,
    plainly(BEZ, "реклам\\p{L}*"),
    /реклам\p{L}*\s+(?:\p{L}+\s+)?(?:нет|нету|отсутству\p{L}*)/giu,
    /広告(?:が|も|は)?(?:一切|全く|全然)?(?:なし|無し|な[いくし]|無[いく]|出な|出てこな|ゼロ)/gu,
    /광고(?:가|도|는)?\s*(?:전혀|하나도)?\s*(?:없|안\s*나)/gu,
    /(?:没有|沒有|没|沒|无|無|零)(?:任何|什么)?(?:广告|廣告)/gu,
  ],
  crashes: [
    english("crash(?:es|ed|ing)?|bugs?|buggy|glitch(?:es|ed|ing|y)?|freez(?:es?|ing)|froze|frozen|errors?"),
    german("absturz|abstürze|abgestürzt|bugs?|fehler|hänger"),
    /(?<!\p{L})(?:stürzt|hängt)\s+(?:\p{L}+\s+){0,2}(?:nie|niemals|nicht)(?:\s+ab)?(?!\p{L})/giu,
    plainly(WITHOUT, "errore?s?|fallos?|bugs?|erros?|travamentos?|plantages?|erreurs?|cierres"),
    /(?<!\p{L})(?:nunca|no|n[aã]o)\s+(?:se\s+)?(?:cierra|cuelga|traba|congela|trava|travou|crasha)(?!\p{L})/giu,
    /(?<!\p{L})(?:plante|bug|bugue|bugge)\s+(?:jamais|pas)(?!\p{L})/giu,
    /(?<!\p{L})(?:donmuyor|[çc][öo]km[üu]yor|kasm[ıi]yor)|hata\p{L}*\s+(?:yok|vermiyor)/giu,
    plainly(BEZ, "баг\\p{L}*|ошиб\\p{L}*|вылет\\p{L}*|глюк\\p{L}*"),
    /(?:не|ни\s+разу\s+не|никогда\s+не)\s+(?:вылета|завис|глюч)\p{L}*/giu,
    /(?:落ち|固まら|フリーズし|クラッシュし)(?:ない|ません|たことがない|たことはない)|バグ(?:が|も|は)?(?:な[いくし]|無[いくし])/gu,
    /(?:튕기지|멈추지)\s*않|안\s*(?:튕|멈추)|(?:버그|오류)(?:가|도|는)?\s*(?:전혀)?\s*없/gu,
    /(?:不会|不會|从不|從不|从来不|没有|沒有|不)(?:闪退|閃退|崩溃|崩潰|卡死)|(?:没有|沒有|无|無)(?:任何)?(?:bug|错误|錯誤)/giu,
  ],
  lost_data: [
    english("los(?:t|e|es|ing)(?:\\s+(?:my|any|all|anything|everything|progress|data|streak)){1,3}|data\\s+loss"),
  ],
  speed: [
    english("lags?|laggy|lagging|slow"),
    german("langsam|ruckeln|ruckelt"),
    plainly("не|никогда не", "лага\\p{L}*|тормоз\\p{L}*"),
  ],
  misleading: [
    english("false\\s+advertising|fake(?:\\s+ads?)?|misleading|scams?|clickbait"),
    german("fake|betrug|abzocke"),
  ],
  boring: [
    english("(?:gets?\\s+|got\\s+)?(?:boring|bored|repetitive|dull)"),
    german("langweilig|langweile|eintönig"),
    plainly("nunca|jamais|pas|no\\s+es|n[aã]o\\s+[ée]|не", "aburrid[oa]|ennuyeux|chato|скучн\\p{L}*"),
    /飽き(?:ない|ません|ずに)|(?:지루하지|지겹지)\s*않|안\s*지루|不(?:无聊|無聊|会腻|會膩)|s[ıi]k[ıi]c[ıi]\s+de[ğg]il/giu,
  ],
  price: [
    english("subscriptions?|paywalls?|in-app\\s+purchases?|microtransactions?|expensive|overpriced"),
    german("abo|abos|teuer"),
  ],
}
