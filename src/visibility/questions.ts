import { type ListingLocale, languageOf, localesOf } from "../lib/locales.ts"

/**
 * Increment it whenever a word of the questions below changes, because answers to different wordings are not compared.
 */
const VERSION = 1

/** Two phrasings per language. The keyword is quoted, so that no grammar inflects it. */
const PHRASINGS: Readonly<Record<string, readonly [string, string]>> = {
  en: ['What are the best apps for "%"?', 'Which app should I install for "%"?'],
  ar: ["ما أفضل التطبيقات لـ «%»؟", "أي تطبيق يجب أن أثبّت من أجل «%»؟"],
  cs: ["Jaké jsou nejlepší aplikace pro „%“?", "Kterou aplikaci si mám nainstalovat pro „%“?"],
  da: ["Hvad er de bedste apps til »%«?", "Hvilken app skal jeg installere til »%«?"],
  de: ["Was sind die besten Apps für „%“?", "Welche App soll ich für „%“ installieren?"],
  el: ["Ποιες είναι οι καλύτερες εφαρμογές για «%»;", "Ποια εφαρμογή να εγκαταστήσω για «%»;"],
  es: ["¿Cuáles son las mejores apps para «%»?", "¿Qué app debería instalar para «%»?"],
  fi: ["Mitkä ovat parhaat sovellukset haulle ”%”?", "Minkä sovelluksen asentaisin haulle ”%”?"],
  fr: ["Quelles sont les meilleures applications pour « % » ?", "Quelle application installer pour « % » ?"],
  he: ['מהן האפליקציות הטובות ביותר עבור "%"?', 'איזו אפליקציה כדאי להתקין עבור "%"?'],
  hr: ["Koje su najbolje aplikacije za „%”?", "Koju aplikaciju trebam instalirati za „%”?"],
  hu: ["Melyek a legjobb alkalmazások erre: „%”?", "Melyik alkalmazást telepítsem erre: „%”?"],
  id: ['Apa aplikasi terbaik untuk "%"?', 'Aplikasi mana yang sebaiknya saya instal untuk "%"?'],
  it: ["Quali sono le migliori app per «%»?", "Quale app dovrei installare per «%»?"],
  ja: ["「%」でおすすめのアプリは何ですか？", "「%」にはどのアプリを入れればいいですか？"],
  ko: ["'%'에 가장 좋은 앱은 무엇인가요?", "'%' 용도로 어떤 앱을 설치하면 좋을까요?"],
  ms: ['Apakah aplikasi terbaik untuk "%"?', 'Aplikasi mana yang patut saya pasang untuk "%"?'],
  nl: ["Wat zijn de beste apps voor '%'?", "Welke app moet ik installeren voor '%'?"],
  no: ["Hva er de beste appene for «%»?", "Hvilken app bør jeg installere for «%»?"],
  pl: ["Jakie są najlepsze aplikacje do „%”?", "Którą aplikację zainstalować do „%”?"],
  pt: ["Quais são os melhores apps para “%”?", "Qual app devo instalar para “%”?"],
  ro: ["Care sunt cele mai bune aplicații pentru „%”?", "Ce aplicație ar trebui să instalez pentru „%”?"],
  ru: ["Какие приложения лучше всего подходят для «%»?", "Какое приложение установить для «%»?"],
  sk: ["Aké sú najlepšie aplikácie na „%“?", "Ktorú aplikáciu si mám nainštalovať na „%“?"],
  sl: ["Katere so najboljše aplikacije za »%«?", "Katero aplikacijo naj namestim za »%«?"],
  sv: ["Vilka är de bästa apparna för ”%”?", "Vilken app ska jag installera för ”%”?"],
  th: ["แอปที่ดีที่สุดสำหรับ “%” คืออะไร", "ควรติดตั้งแอปไหนสำหรับ “%”"],
  tr: ['"%" için en iyi uygulamalar hangileri?', '"%" için hangi uygulamayı yüklemeliyim?'],
  uk: ["Які застосунки найкращі для «%»?", "Який застосунок встановити для «%»?"],
  ur: ["“%” کے لیے بہترین ایپس کون سی ہیں؟", "“%” کے لیے مجھے کون سی ایپ انسٹال کرنی چاہیے؟"],
  vi: ["Ứng dụng nào tốt nhất cho “%”?", "Tôi nên cài ứng dụng nào cho “%”?"],
  "zh-Hans": ["“%”有哪些最好的应用？", "“%”应该安装哪个应用？"],
  "zh-Hant": ["「%」有哪些最好的 App？", "「%」應該安裝哪個 App？"],
}

interface Question {
  language: string
  /** Version and variant, such as "1a". */
  phrasing: string
  text: string
}

/**
 * Returns the question of a run. The two phrasings alternate, so that checks with the same number of runs are
 * comparable.
 */
export function questionOf(term: string, storefront: string, run: number): Question {
  const language = languageIn(storefront)
  const variant = run % 2
  const text = (PHRASINGS[language] as readonly string[])[variant]!.replace("%", () => term)
  return { language, phrasing: `${VERSION}${"ab"[variant]}`, text }
}

/**
 * Returns the language that people of a storefront speak: the store's default locale, or the second locale if the store
 * lists English first although the country does not speak it. Falls back to English.
 */
export function languageIn(storefront: string): string {
  const [first, second] = localesOf(storefront).map((locale: ListingLocale) => languageOf(locale))
  const language = first === "en" && second !== undefined && !ENGLISH.has(storefront) ? second : (first as string)
  return language in PHRASINGS ? language : "en"
}

const ENGLISH = new Set(["us", "gb", "au", "nz", "ca", "ie", "sg", "bz", "in", "za"])
