/** True for an id of that store: 5 to 12 digits on the App Store, a package name on Google Play. */
export function isStoreId(platform: "ios" | "android", id: string): boolean {
  return platform === "ios" ? IOS.test(id) : id.length <= 255 && ANDROID.test(id)
}

const IOS = /^[1-9]\d{4,11}$/
const ANDROID = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$/

const inner = ({ source }: RegExp) => source.slice(1, -1)

/** The same as schemas say it. */
export const STORE_ID_PATTERNS = {
  ios: IOS.source,
  android: ANDROID.source,
  any: `^(${inner(IOS)}|${inner(ANDROID)})$`,
  /** "ios:<store id>" or "android:<package>". */
  rival: `^(ios:${inner(IOS)}|android:${inner(ANDROID)})$`,
  /** The same, or the id alone. */
  either: `^((ios:)?${inner(IOS)}|(android:)?${inner(ANDROID)})$`,
}

/** A rival as workspaces name it, "ios:<store id>" or "android:<package>"; null when it is neither. */
export function parseRival(text: string): { platform: "ios" | "android"; id: string } | null {
  const [platform, id = ""] = text.split(":", 2)
  if (platform !== "ios" && platform !== "android") return null
  return text === `${platform}:${id}` && isStoreId(platform, id) ? { platform, id } : null
}

/** What ids of the demo's own world begin with, on the App Store: no store gives such ids. */
export const INVENTED_IDS = "99901"

export function isInventedId(id: string): boolean {
  return id.length === 10 && id.startsWith(INVENTED_IDS)
}
