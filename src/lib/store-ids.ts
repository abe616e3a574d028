/** Returns whether an id has the form of that store: 5 to 12 digits on the App Store, a package name on Google Play. */
export function isStoreId(platform: "ios" | "android", id: string): boolean {
  return platform === "ios" ? IOS.test(id) : id.length <= 255 && ANDROID.test(id)
}

const IOS = /^[1-9]\d{4,11}$/
const ANDROID = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$/

const inner = ({ source }: RegExp) => source.slice(1, -1)

/** The same patterns for schemas. */
export const STORE_ID_PATTERNS = {
  ios: IOS.source,
  android: ANDROID.source,
  any: `^(${inner(IOS)}|${inner(ANDROID)})$`,
  /** "ios:<store id>" or "android:<package>". */
  rival: `^(ios:${inner(IOS)}|android:${inner(ANDROID)})$`,
  /** "ios:<store id>", "android:<package>", or the id alone. */
  either: `^((ios:)?${inner(IOS)}|(android:)?${inner(ANDROID)})$`,
}

/** Parses a rival, "ios:<store id>" or "android:<package>". Null if it is neither. */
export function parseRival(text: string): { platform: "ios" | "android"; id: string } | null {
  const [platform, id = ""] = text.split(":", 2)
  if (platform !== "ios" && platform !== "android") return null
  return text === `${platform}:${id}` && isStoreId(platform, id) ? { platform, id } : null
}

/** Prefix of App Store ids in the sample data. The store never assigns such ids. */
export const INVENTED_IDS = "99901"

export function isInventedId(id: string): boolean {
  return id.length === 10 && id.startsWith(INVENTED_IDS)
}
