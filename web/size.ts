import { numberText } from './locale.ts'

const units = ['B', 'kB', 'MB'] as const

/** `0 B`, `340 kB`, `1.4 MB`. */
export function sizeText(bytes: number): string {
  const place = bytes < 1000 ? 0 : bytes < 999_500 ? 1 : 2
  const size = bytes / 1000 ** place
  return `${numberText(size < 10 ? Math.round(size * 10) / 10 : Math.round(size))} ${units[place]}`
}
