import type { WebSearch } from '../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral, type Fields } from './body.ts'
import { refuseOthers } from './messages.ts'

/** The searches that a request allows unless it says how many. */
const usualUses = 5
const mostUses = 100

/** How many searches a request allows. Throws Problem `invalid_field`. */
export function readUses(value: unknown, field: string): number {
  if (value === undefined || value === null) return usualUses
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > mostUses) {
    throw mustBe(field, `a whole number from 1 to ${mostUses}`)
  }
  return value
}

/** Where to search, as both vendors write it. Throws Problem `invalid_field`. */
export function readPlaces(value: Fields, place: string): Pick<WebSearch, 'allowedDomains' | 'blockedDomains'> {
  const [allowed, blocked] = [value['allowed_domains'], value['blocked_domains']]
  return {
    ...(allowed !== undefined && { allowedDomains: readDomains(allowed, `${place}.allowed_domains`) }),
    ...(blocked !== undefined && { blockedDomains: readDomains(blocked, `${place}.blocked_domains`) }),
  }
}

/** Where the user is. Throws Problem `invalid_field`. */
export function readLocation(value: unknown, place: string): Pick<WebSearch, 'userLocation'> {
  if (value === undefined) return {}
  const kept = withoutNeutral(value, {})
  if (!isFields(kept)) throw mustBe(place, 'an object of type approximate')
  refuseOthers(kept, ['type', ...ofLocation], place)
  if ((kept['type'] ?? 'approximate') !== 'approximate') throw mustBe(`${place}.type`, 'approximate')
  const named = ofLocation.flatMap((name): [string, string][] => {
    const text = kept[name]
    if (text === undefined) return []
    if (typeof text !== 'string' || text.length > mostText) throw mustBe(`${place}.${name}`, 'a short text')
    return [[name, text]]
  })
  return { userLocation: Object.fromEntries(named) }
}

const ofLocation = ['city', 'country', 'region', 'timezone']
const mostText = 200
const mostDomains = 100

function readDomains(value: unknown, field: string): readonly string[] {
  const listed: readonly unknown[] = Array.isArray(value) ? value : [undefined]
  const domains = listed.filter((each) => typeof each === 'string').filter((each) => each.length <= mostText)
  if (domains.length < listed.length || listed.length > mostDomains) {
    throw mustBe(field, `a list of at most ${mostDomains} domains`)
  }
  return domains
}
