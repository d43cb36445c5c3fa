import type { OptionsFilter } from '@mantine/core'
import { bestMatches } from '../../src/platform/text/spelling.ts'

/** The choices of a field that match what is typed, best first. For choices without groups. */
export const matchingOptions: OptionsFilter = ({ options, search, limit }) =>
  bestMatches(options, search, (option) => ('label' in option ? [option.label] : [])).slice(0, limit)
