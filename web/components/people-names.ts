import { useEffect, useState } from 'react'
import type { PeopleList } from '../../src/people/schema.ts'
import { read } from '../api.ts'

let asked: Promise<PeopleList> | undefined

/** Those of the active people who may have clients, for partners to choose from. */
export const useReceivers = (): PeopleList['people'] => usePeople().filter(({ role }) => role !== 'developer')

/** The active people of the firm, for partners to choose from; fetched once, on first use. */
export function usePeople(isWanted = true): PeopleList['people'] {
  const [people, setPeople] = useState<PeopleList['people']>([])
  useEffect(() => {
    if (!isWanted) return undefined
    let isGone = false
    asked ??= read<PeopleList>('/people')
    asked.then(
      (list) => isGone || setPeople(list.people.filter(({ status }) => status === 'active')),
      () => (asked = undefined),
    )
    return () => {
      isGone = true
    }
  }, [isWanted])
  return people
}
