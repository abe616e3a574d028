declare module "tesseract.js-core/tesseract-core-simd-lstm.js" {
  /** Typed in tesseract.ts. */
  const open: unknown
  export default open
}
