import type { WritingLanguage } from "../languages.ts"

/** The topics of reviews, chosen by hand. Each is counted by its own words (topic-words.ts). */
export const TOPICS = [
  "ads",
  "price",
  "misleading",
  "difficulty",
  "crashes",
  "update",
  "lost_data",
  "sign_in",
  "speed",
  "notifications",
  "rewards",
  "boring",
  "support",
  "ease",
  "design",
] as const
export type Topic = (typeof TOPICS)[number]

type Labels = Readonly<Record<Topic, string>>

/** Labels of the topics in answers. */
export const TOPIC_LABELS: Readonly<Record<WritingLanguage, Labels>> = {
  en: labels(
    "Ads · Price and subscription · Not as advertised · Difficulty · Crashes and bugs · The latest update · Lost " +
      "data and syncing · Signing in · Speed · Notifications · Rewards · Repetition · Support · Ease of use · Design",
  ),
  tr: labels(
    "Reklamlar · Fiyat ve abonelik · Reklamdaki gibi değil · Zorluk · Çökmeler ve hatalar · Son güncelleme · Veri " +
      "kaybı ve eşitleme · Giriş yapma · Hız · Bildirimler · Ödüller · Tekdüzelik · Destek · Kullanım kolaylığı · " +
      "Tasarım",
  ),
  de: labels(
    "Werbung · Preis und Abo · Nicht wie beworben · Schwierigkeit · Abstürze und Fehler · Letztes Update · " +
      "Datenverlust und Synchronisierung · Anmeldung · Geschwindigkeit · Mitteilungen · Belohnungen · Eintönigkeit · " +
      "Kundendienst · Bedienung · Gestaltung",
  ),
  es: labels(
    "Anuncios · Precio y suscripción · No es como se anuncia · Dificultad · Cierres y errores · La última " +
      "actualización · Pérdida de datos y sincronización · Inicio de sesión · Velocidad · Notificaciones · " +
      "Recompensas · Repetición · Soporte · Facilidad de uso · Diseño",
  ),
  fr: labels(
    "Publicités · Prix et abonnement · Pas comme annoncé · Difficulté · Plantages et bugs · Dernière mise à jour · " +
      "Perte de données et synchronisation · Connexion · Rapidité · Notifications · Récompenses · Répétition · " +
      "Assistance · Facilité d'utilisation · Design",
  ),
  pt: labels(
    "Anúncios · Preço e assinatura · Diferente do anunciado · Dificuldade · Falhas e erros · Última atualização · " +
      "Perda de dados e sincronização · Início de sessão · Velocidade · Notificações · Recompensas · Repetição · " +
      "Suporte · Facilidade de uso · Design",
  ),
  ru: labels(
    "Реклама · Цена и подписка · Не как в рекламе · Сложность · Вылеты и ошибки · Последнее обновление · Потеря " +
      "данных и синхронизация · Вход · Скорость · Уведомления · Награды · Однообразие · Поддержка · Удобство · Дизайн",
  ),
  ja: labels(
    "広告 · 価格と課金 · 広告と違う · 難易度 · クラッシュと不具合 · 最新アップデート · データ消失と同期 · ログイン · 速さ · 通知 · 報酬 · マンネリ " +
      "· サポート · 使いやすさ · デザイン",
  ),
  ko: labels(
    "광고 · 가격과 구독 · 광고와 다름 · 난이도 · 충돌과 오류 · 최근 업데이트 · 데이터 손실과 동기화 · 로그인 · 속도 · 알림 · 보상 · 지루함 · " +
      "고객 지원 · 사용 편의성 · 디자인",
  ),
  zh: labels(
    "广告 · 价格与订阅 · 与宣传不符 · 难度 · 闪退与错误 · 最近更新 · 数据丢失与同步 · 登录 · 速度 · 通知 · 奖励 · 单调 · 客服 · 易用性 · 设计",
  ),
}

/** Added to the label of a theme whose reviews deny the topic. */
export const NONE: Readonly<Record<WritingLanguage, string>> = {
  en: "none",
  tr: "yok",
  de: "keine",
  es: "no hay",
  fr: "aucun",
  pt: "não há",
  ru: "нет",
  ja: "なし",
  ko: "없음",
  zh: "无",
}

function labels(line: string): Labels {
  const words = line.split(" · ")
  return Object.fromEntries(TOPICS.map((topic, at) => [topic, words[at] as string])) as Labels
}

/**
 * Precision of the rules on 186 labelled reviews that were not used to tune the rules: the number of reviews found for
 * each topic, and the number of these that were right. A test repeats the count.
 */
export const TOPIC_CHECKED: Readonly<Record<Topic, { found: number; right: number }>> = {
  ads: { found: 21, right: 20 },
  price: { found: 32, right: 30 },
  misleading: { found: 27, right: 25 },
  difficulty: { found: 36, right: 28 },
  crashes: { found: 19, right: 16 },
  update: { found: 16, right: 15 },
  lost_data: { found: 6, right: 4 },
  sign_in: { found: 2, right: 1 },
  speed: { found: 2, right: 2 },
  notifications: { found: 4, right: 2 },
  rewards: { found: 10, right: 6 },
  boring: { found: 7, right: 7 },
  support: { found: 6, right: 5 },
  ease: { found: 1, right: 1 },
  design: { found: 2, right: 2 },
}

const sumOf = (what: "found" | "right"): number => TOPICS.reduce((sum, topic) => sum + TOPIC_CHECKED[topic][what], 0)

/** Totals over all topics, with the number of labels that the rules missed. */
export const TOPICS_CHECKED = { reviews: 186, found: sumOf("found"), right: sumOf("right"), missed: 50 }
