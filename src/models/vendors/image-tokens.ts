import type { FilePart } from '../conversation.ts'

/** The tokens of an image. Width and height are in pixels. */
export type ImageTokens = (width: number, height: number, detail: FilePart['detail']) => number

/**
 * OpenAI's rule for some models: the image is scaled into a square of 2048, then to a short side of 768, and each tile of 512
 * that it covers costs `tile` tokens. With low detail, only the base is charged.
 */
export const tiles =
  (base: number, tile: number): ImageTokens =>
  (width, height, detail) => {
    if (detail === 'low') return base
    const fitted = Math.min(1, 2048 / Math.max(width, height))
    const scale = fitted * Math.min(1, 768 / (Math.min(width, height) * fitted))
    return base + tile * Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
  }

/** `each` tokens for each square of `side` pixels that the image covers. An image that covers more than `most` squares is scaled down. */
export const patches =
  (side: number, most: number, each = 1): ImageTokens =>
  (width, height) =>
    Math.ceil(Math.min(Math.ceil(width / side) * Math.ceil(height / side), most) * each)
