import { filesOf, type FilePart, type Prompt } from './conversation.ts'

/** Width and height in pixels. */
type ImageTokens = (width: number, height: number, detail: FilePart['detail']) => number

/**
 * OpenAI's rule for some models: the image is scaled into a square of 2048, then to a short side of 768, and each tile of 512
 * that it covers costs `tile` tokens. With low detail, only the base is charged.
 */
const tiles =
  (base: number, tile: number): ImageTokens =>
  (width, height, detail) => {
    if (detail === 'low') return base
    const fitted = Math.min(1, 2048 / Math.max(width, height))
    const scale = fitted * Math.min(1, 768 / (Math.min(width, height) * fitted))
    return base + tile * Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
  }

/** `each` tokens for each square of `side` pixels that the image covers. An image that covers more than `most` squares is scaled down. */
const patches =
  (side: number, most: number, each = 1): ImageTokens =>
  (width, height) =>
    Math.ceil(Math.min(Math.ceil(width / side) * Math.ceil(height / side), most) * each)

/** The larger of two rules. */
const either =
  (one: ImageTokens, other: ImageTokens): ImageTokens =>
  (...image) =>
    Math.max(one(...image), other(...image))

/** The documented rules by the names of models, the most specific first. */
const rules: readonly (readonly [names: RegExp, tokens: ImageTokens])[] = [
  [/^claude/, patches(28, 4784)],
  [/^gpt-4o-mini/, tiles(2833, 5667)],
  [/^gpt-(?:4\.1|5)-mini/, patches(32, 1536, 1.62)],
  [/^gpt-(?:4\.1|5)-nano/, patches(32, 1536, 2.46)],
  [/^(?:o4-mini|codex-mini)/, patches(32, 1536, 1.72)],
  [/^gpt-[\d.]+-mini/, patches(32, 2500, 1.62)],
  [/^gpt-[\d.]+-nano/, patches(32, 2500, 2.46)],
  [/^(?:chatgpt-4o|gpt-4)/, tiles(85, 170)],
  [/^o[13]/, tiles(75, 150)],
  [/^gpt-5(?:-|$)/, tiles(70, 140)],
]

/** A bound for all other models: no rule of a vendor that we know costs more, but for its smallest models. */
const others = either(tiles(85, 170), patches(28, 16_384))

/** Vendors read a page of a PDF as its text, up to this many tokens, and as an image of about this size. */
const page = { text: 3000, width: 1240, height: 1754 } as const

/**
 * The tokens of the images and documents of a prompt for a model of this name, by the rules of its vendor: an upper bound. The pages
 * of all documents must have been counted.
 */
export function fileTokens({ messages }: Prompt, upstreamModel: string): number {
  const files = filesOf(messages)
  if (files.length === 0) return 0
  const name = upstreamModel.split('/').at(-1)?.toLowerCase() ?? ''
  const [, tokensOf = others] = rules.find(([names]) => names.test(name)) ?? []
  return files.reduce((sum, { extent, detail }) => {
    if (!extent) throw new Error('the pages of a document were not counted')
    if ('width' in extent) return sum + tokensOf(extent.width, extent.height, detail)
    return sum + extent.pages * (page.text + tokensOf(page.width, page.height, 'high'))
  }, 0)
}
