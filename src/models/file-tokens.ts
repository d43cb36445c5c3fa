import { filesOf, type Prompt } from './conversation.ts'
import { patches, tiles, type ImageTokens } from './vendors/image-tokens.ts'
import { vendors } from './vendors/vendors.ts'

/** The larger of two rules. */
const either =
  (one: ImageTokens, other: ImageTokens): ImageTokens =>
  (...image) =>
    Math.max(one(...image), other(...image))

/** The documented rules of vendors. */
const rules = vendors.flatMap(({ images = [] }) => images)

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
