/** A line of words in a picture: pixels from its upper left corner, confidence from 0 to 100. */
export interface PictureLine {
  text: string
  confidence: number
  x: number
  y: number
  width: number
  height: number
}

/** Large words of a picture, from above. */
export interface PictureText {
  width: number
  height: number
  lines: readonly PictureLine[]
}

/** unreachable: its host did not give it just now. unreadable: no PNG or JPEG, too large, or not read in time. */
export const PICTURE_PROBLEMS = ["unreachable", "unreadable"] as const
type PictureProblem = (typeof PICTURE_PROBLEMS)[number]

export interface PictureQuestion {
  address: string
  /** Of what stands in it, BCP 47, the likeliest first. */
  locales: readonly string[]
}

export type PictureState =
  | { state: "read"; text: PictureText; at: Date; version: number; by: string }
  | { state: "broken"; why: PictureProblem }
  | { state: "pending" }
  | { state: "off" }

/** The one port for words in pictures. It holds no connection while it waits. */
export interface ReadPictures {
  /** In the order asked. Each is read once for all who ask; who waits no longer finds it later. */
  (pictures: readonly PictureQuestion[], waitMs: number): Promise<PictureState[]>
  /** What is kept of them; null = nothing. */
  find(pictures: readonly PictureQuestion[]): Promise<(PictureState | null)[]>
  /** Which of the locales have no trained data here: what is written in them is not read, or not well. */
  unread<Locale extends string>(locales: readonly Locale[]): Locale[]
}

/** Nothing is read, and nothing is kept. */
export const NO_PICTURES: ReadPictures = Object.assign(
  async (pictures: readonly PictureQuestion[]) => pictures.map((): PictureState => ({ state: "off" })),
  { find: async (pictures: readonly PictureQuestion[]) => pictures.map(() => null), unread: () => [] },
)
