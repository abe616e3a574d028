/** A line of text in a picture: pixels from the upper left corner, confidence from 0 to 100. */
export interface PictureLine {
  text: string
  confidence: number
  x: number
  y: number
  width: number
  height: number
}

/** The large text of a picture, top to bottom. */
export interface PictureText {
  width: number
  height: number
  lines: readonly PictureLine[]
}

/** unreachable: the host did not deliver the picture. unreadable: not a PNG or JPEG, too large, or OCR timed out. */
export const PICTURE_PROBLEMS = ["unreachable", "unreadable"] as const
type PictureProblem = (typeof PICTURE_PROBLEMS)[number]

export interface PictureQuestion {
  address: string
  /** Locales of the text, BCP 47, most likely first. */
  locales: readonly string[]
}

export type PictureState =
  | { state: "read"; text: PictureText; at: Date; version: number; by: string }
  | { state: "broken"; why: PictureProblem }
  | { state: "pending" }
  | { state: "off" }

/** The only interface for OCR. It holds no connection while it waits. */
export interface ReadPictures {
  /**
   * Returns the results in the order of the pictures. Each picture is read once for all callers. After a timeout the
   * result is stored later.
   */
  (pictures: readonly PictureQuestion[], waitMs: number): Promise<PictureState[]>
  /** Returns the stored results. Null where there is none. */
  find(pictures: readonly PictureQuestion[]): Promise<(PictureState | null)[]>
  /** Returns the locales without trained data on this server. Text in them is read badly or not at all. */
  unread<Locale extends string>(locales: readonly Locale[]): Locale[]
}

/** Reads nothing and stores nothing. */
export const NO_PICTURES: ReadPictures = Object.assign(
  async (pictures: readonly PictureQuestion[]) => pictures.map((): PictureState => ({ state: "off" })),
  { find: async (pictures: readonly PictureQuestion[]) => pictures.map(() => null), unread: () => [] },
)
