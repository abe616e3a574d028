/** Facts about the app and its rivals. Texts are as the store shows them. */
export interface AppBackground {
  name: string | null
  developer: string | null
  rivals: readonly { name: string; developer: string | null }[]
  /** Tracked keywords of the storefront, in their order. */
  tracked: readonly string[]
}
