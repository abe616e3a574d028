import { hash } from "node:crypto"
import { DEMO } from "../../core/observation/provenance.ts"
import type { Observation } from "../../kinds.ts"
import { addDays } from "../../lib/days.ts"
import { isInventedId } from "../../lib/store-ids.ts"
import { COUNTRY } from "./ads.ts"
import { chance, type DemoApp } from "./seller.ts"

type ReviewText = readonly [stars: number, title: string, text: string]

/** Made-up reviews that fit any app, in three languages. Each title says that it is invented. */
const WRITTEN: readonly ReviewText[] = [
  [5, "Invented: every day", "I open it every day on the train and it just works. Easy to use and fast."],
  [1, "Invented: too many ads", "An ad after every single tap. I deleted it because of the ads."],
  [4, "Invented: nearly there", "Great app, but please add a dark mode. Everything else is easy to find."],
  [2, "Invented: crashes", "Since the last update it crashes when I open it. Please fix the crash."],
  [5, "Inventada: me encanta", "Muy fácil de usar y funciona sin problemas. La recomiendo a mis amigos."],
  [3, "Invented: fine, but pricey", "Good idea, but the subscription is too expensive for what it does."],
  [5, "Invented: thank you", "The support answered within a day and solved my problem. Thank you!"],
  [1, "Invented: charged twice", "The subscription was charged twice and I got no refund."],
  [4, "Erfunden: richtig gut", "Läuft schnell und stabil. Nur die Werbung stört manchmal."],
  [5, "Invented: so simple", "Simple, clean design and easy to use. My kids love it too."],
  [2, "Inventada: demasiados anuncios", "Hay demasiados anuncios y la versión de pago es muy cara."],
  [4, "Invented: better with each update", "Each update makes it better and faster. One star off for the ads."],
  [1, "Invented: lost everything", "After the update all my data was gone and I cannot log in."],
  [5, "Invented: worth it", "I pay for it and it is worth the price. No ads, no crashes."],
  [3, "Invented: slow on an old phone", "It works, but it is slow and drains the battery of my old phone."],
  [5, "Erfunden: genau das Richtige", "Einfach zu bedienen, schönes Design und kein Absturz seit Monaten."],
  [1, "Invented: cannot log in", "It asks for my password again and again. I cannot log in at all."],
  [4, "Inventada: buena", "Buena aplicación, aunque a veces va lenta después de la actualización."],
  [5, "Invented: best I tried", "I tried five of them and this is the best. Fast and easy."],
  [2, "Invented: paywall", "Everything I want is behind a paywall. Too expensive for me."],
  [4, "Invented: good design", "Beautiful design. I wish it could sync with my tablet."],
  [3, "Erfunden: ganz okay", "Die Idee ist gut, aber das Abo ist zu teuer und es gibt viel Werbung."],
  [5, "Invented: works offline", "It works offline, which I need on flights. Easy to use."],
  [1, "Invented: freezes", "It freezes on the first screen. I waited for an update, but it still freezes."],
  [5, "Inventada: perfecta", "Perfecta y rápida. Nunca se cierra sola y el diseño es bonito."],
  [4, "Invented: useful", "Useful and fast. The widget could be larger."],
  [3, "Invented: used to be better", "It was better before the update: more taps for the same thing."],
  [5, "Invented: recommended", "I recommend it to everybody at work. Simple and fast."],
]

/** Number of days up to `last` that have reviews. There is a review every other day, so each text is used once. */
const DAYS = 2 * WRITTEN.length
/** Number of days between versions of the app. */
const VERSION_DAYS = 21

/**
 * Returns one reading per app with all its reviews up to `last`. A review depends on the app and the day only, so a
 * later reading adds days and changes none.
 */
export function reviewReadings(apps: readonly DemoApp[], last: string): Observation[] {
  return apps.map(({ iosId }) => {
    const days = Array.from({ length: DAYS }, (_, ago) => addDays(last, -ago))
    const reviews = days.flatMap((day) => [...reviewOn(iosId, day), ...(isInventedId(iosId) ? waveOn(day) : [])])
    const end = { pages: 1, complete: true, empty: false }
    const about = { storefront: COUNTRY, storeId: iosId, page: 1, reviews, end }
    return { kind: "reviews", source: "apple-reviews", ...provenance(last), ...about }
  })
}

function reviewOn(iosId: string, day: string) {
  const number = Math.round(Date.parse(day) / 86_400_000) + Math.floor(1_000 * chance(`reviews ${iosId}`))
  if (number % 2 === 1) return []
  const [stars, title, text] = WRITTEN[(number / 2) % WRITTEN.length]!
  const version = `3.${Math.floor(number / VERSION_DAYS) - 900}`
  return [{ id: `invented-${day}`, stars, title, text, version, at: new Date(`${day}T1${number % 9}:20:00Z`) }]
}

/** Every 17 days the app that is in no store gets a wave of bad reviews after a broken update. */
const WAVE_DAYS = 17
const WAVE = [
  ["Invented: will not open", "Since the update it closes as soon as I open it."],
  ["Invented: broken", "The update broke it. It crashes on the first screen."],
  ["Invented: my diary is gone", "After the update all my entries are gone. Please fix it!"],
  ["Invented: crash", "Crash after crash today. It was fine before the update."],
  ["Invented: fix it", "It freezes since today's update and I cannot log in."],
  ["Invented: unusable", "I cannot use it since the update. It crashes each time."],
] as const

function waveOn(day: string) {
  const number = Math.round(Date.parse(day) / 86_400_000)
  if (number % WAVE_DAYS !== 0) return []
  return WAVE.map(([title, text], place) => {
    return {
      id: `invented-${day}-${place}`,
      stars: 1,
      title,
      text,
      version: "4.0",
      at: new Date(`${day}T0${place}:40:00Z`),
    }
  })
}

/**
 * Returns the provenance of invented readings, with a time on the morning after `day`. Depends on the day only, so that
 * it is the same whenever it is generated.
 */
export function provenance(day: string) {
  const sha256 = hash("sha256", `invented ${day}`, "buffer")
  return { platform: "ios" as const, parser: 1, origin: DEMO, seenAt: new Date(`${addDays(day, 1)}T07:00:00Z`), sha256 }
}
