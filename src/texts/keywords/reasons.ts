import type { WritingLanguage } from "../languages.ts"

/** Measured evidence for a keyword. */
export type IdeaEvidence =
  | { kind: "ranked"; rank: number; day: string }
  | { kind: "rival"; rank: number; day: string; rival: string }
  | { kind: "suggested"; prefix: string; day: string }
  | { kind: "names"; apps: number }

/** Returns the sentence for a piece of evidence in the given language. */
export function reasonOf(evidence: IdeaEvidence, language: WritingLanguage): string {
  const sentence = SENTENCES[language][evidence.kind]
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(evidence[name as keyof IdeaEvidence]))
}

const SENTENCES: Readonly<Record<WritingLanguage, Readonly<Record<IdeaEvidence["kind"], string>>>> = {
  en: {
    ranked: "The app already ranks {rank} for this keyword, which is not tracked.",
    rival: "{rival} ranks {rank} for it.",
    suggested: 'The store suggests it for "{prefix}".',
    names: "{apps} apps that rank high for tracked keywords have it in their name.",
  },
  tr: {
    ranked: "Uygulama bu kelimede zaten {rank}. sırada ve kelime takip edilmiyor.",
    rival: "{rival} bu kelimede {rank}. sırada.",
    suggested: "Mağaza bunu “{prefix}” yazınca öneriyor.",
    names: "Takip edilen kelimelerin ilk sıralarındaki {apps} uygulamanın adında geçiyor.",
  },
  de: {
    ranked: "Die App steht dafür schon auf Platz {rank} und verfolgt es nicht.",
    rival: "{rival} steht dafür auf Platz {rank}.",
    suggested: "Der Store schlägt es zu „{prefix}“ vor.",
    names: "{apps} Apps auf den ersten Plätzen verfolgter Begriffe führen es im Namen.",
  },
  es: {
    ranked: "La app ya ocupa el puesto {rank} y no la sigue.",
    rival: "{rival} ocupa el puesto {rank}.",
    suggested: "La tienda la sugiere para «{prefix}».",
    names: "{apps} apps en los primeros puestos de palabras seguidas la llevan en el nombre.",
  },
  fr: {
    ranked: "L'app y est déjà au rang {rank} sans le suivre.",
    rival: "{rival} y est au rang {rank}.",
    suggested: "Le store le suggère pour « {prefix} ».",
    names: "{apps} apps aux premiers rangs de mots suivis l'ont dans leur nom.",
  },
  pt: {
    ranked: "O app já está na posição {rank} e não acompanha o termo.",
    rival: "{rival} está na posição {rank}.",
    suggested: "A loja sugere o termo para “{prefix}”.",
    names: "{apps} apps nas primeiras posições de termos acompanhados têm o termo no nome.",
  },
  ru: {
    ranked: "Приложение уже на месте {rank}, но запрос не отслеживается.",
    rival: "{rival} на месте {rank}.",
    suggested: "Магазин предлагает его к «{prefix}».",
    names: "Есть в названиях приложений на первых местах отслеживаемых запросов, их {apps}.",
  },
  ja: {
    ranked: "アプリはすでに{rank}位ですが、追跡していません。",
    rival: "{rival}が{rank}位です。",
    suggested: "ストアが「{prefix}」で候補に出します。",
    names: "追跡中のキーワードの上位にある{apps}本のアプリが名前に使っています。",
  },
  ko: {
    ranked: "앱이 이미 {rank}위인데 추적하지 않습니다.",
    rival: "{rival} 앱이 {rank}위입니다.",
    suggested: "스토어가 “{prefix}” 입력에 제안합니다.",
    names: "추적 키워드 상위의 앱 {apps}개가 이름에 씁니다.",
  },
  zh: {
    ranked: "该应用已排第 {rank} 位，但未跟踪此词。",
    rival: "{rival} 排第 {rank} 位。",
    suggested: "商店在输入“{prefix}”时推荐此词。",
    names: "跟踪关键词前列有 {apps} 个应用名称含此词。",
  },
}

/** Returns the sentence for a model's own idea, with the words that support it. */
export function newReasonOf(from: string, language: WritingLanguage): string {
  return NEW_SENTENCES[language].replace("{from}", () => from)
}

const NEW_SENTENCES: Readonly<Record<WritingLanguage, string>> = {
  en: "A language model's idea, from \"{from}\" on the app's page.",
  tr: "Uygulamanın sayfasındaki “{from}” ifadesinden bir dil modelinin önerisi.",
  de: "Idee eines Sprachmodells, aus „{from}“ auf der Seite der App.",
  es: "Idea de un modelo de lenguaje, a partir de «{from}» en la página de la app.",
  fr: "Idée d'un modèle de langage, tirée de « {from} » sur la page de l'app.",
  pt: "Ideia de um modelo de linguagem, a partir de “{from}” na página do app.",
  ru: "Идея языковой модели из слов «{from}» на странице приложения.",
  ja: "アプリのページの「{from}」から言語モデルが出した案です。",
  ko: "앱 페이지의 “{from}”에서 나온 언어 모델의 제안입니다.",
  zh: "语言模型根据应用页面中的“{from}”提出。",
}
