import { Spotlight } from '@mantine/spotlight'
import {
  IconFileInvoice,
  IconKeyboard,
  IconLogout,
  IconPlus,
  IconSearch,
  IconUserCircle,
  type Icon,
} from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import type { SearchResult, SearchResults } from '../../src/clients/schema.ts'
import { placing } from '../../src/platform/text/spelling.ts'
import { read } from '../api.ts'
import type { ListedInvoice } from '../../src/invoicing/schema.ts'
import { nouns } from '../fields.ts'
import { dateText } from '../locale.ts'
import { invoiceKindNames, invoiceStatusNames, spoken } from '../words.ts'
import { addressOf, recordIcons } from './found.ts'
import { useFoundInvoices } from './found-invoices.ts'
import { placesOf } from './places.tsx'
import classes from './palette.module.css'
import { useRole } from './role.ts'
import { openShortcuts } from './shortcuts.tsx'
import { signOut } from './sign-out.ts'

/** Pause in ms after the last key before the records are searched. */
const pause = 100

/**
 * The command palette: go to a page or a record, or do something, by typing a part of its name. Ctrl+K or ⌘K opens it.
 * Rendered once per page.
 */
export function Palette() {
  const [query, setQuery] = useState('')
  const isDeveloper = useRole() === 'developer'
  const found = useFound(isDeveloper ? '' : query)
  const foundInvoices = useFoundInvoices(query.trim(), 3, pause)
  const { commands, search } = useCommands(query)
  const navigate = useNavigate()
  const invoices = foundInvoices.map((invoice) => invoiceOf(invoice, () => void navigate(`/invoices/${invoice.id}`)))
  const records = found.map((result) => recordOf(result, () => void navigate(addressOf(result))))
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      shortcut="mod + K"
      tagsToIgnore={[]}
      triggerOnContentEditable
      scrollable
      maxHeight="min(28rem, 60vh)"
      attributes={{ content: { 'aria-label': 'Commands and records' } }}
    >
      <Spotlight.Search
        placeholder={isDeveloper ? 'Go to a page' : 'Go to a page or a record'}
        aria-label="Commands and records"
        leftSection={<IconSearch size={18} aria-hidden />}
        maxLength={200}
      />
      <Spotlight.ActionsList>
        {[...commands, ...invoices, ...records, ...search].map(({ name, about, icon, act }, index) => (
          <Spotlight.Action
            // The first place is selected, even when a better match arrives for it.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            label={name}
            description={about}
            leftSection={iconOf(icon)}
            classNames={{ actionBody: classes.body ?? '', actionDescription: classes.about ?? '' }}
            onClick={act}
          />
        ))}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

interface Choice {
  readonly name: string
  readonly about: string
  readonly icon: Icon
  readonly act: () => void
}

function recordOf({ noun, title, client, archived }: SearchResult, act: () => void): Choice {
  const about = [noun === 'client' ? 'Client' : `${spoken(nouns[noun].one)} of ${client.name}`, archived && 'archived']
  const name = noun === 'note' ? dateText(title) : title
  return { name, about: about.filter(Boolean).join(', '), icon: recordIcons[noun], act }
}

function invoiceOf({ kind, number, payer, status }: ListedInvoice, act: () => void): Choice {
  const about = `${invoiceKindNames[kind]} to ${payer.name}, ${invoiceStatusNames[status].toLowerCase()}`
  return { name: number ?? '', about, icon: IconFileInvoice, act }
}

const iconOf = (ItsIcon: Icon) => <ItsIcon size={17} stroke={1.6} aria-hidden />

/** The commands whose names match; and the search for what is typed, if anything is. */
function useCommands(query: string): Readonly<Record<'commands' | 'search', readonly Choice[]>> {
  const navigate = useNavigate()
  const role = useRole()
  const q = query.trim()
  const placeOf = placing(q)
  // They come before the records, so a part of a word is not enough.
  const begins = (name: string) => (placeOf([name]) ?? 4) < 4
  const all = [
    ...placesOf(role).map(({ name, icon, to }) => ({ name, icon, act: () => void navigate(to) })),
    ...(role === 'developer' ? [] : [{ name: 'New client', icon: IconPlus, act: () => void navigate('/clients#new') }]),
    ...(role === 'partner' ? [{ name: 'New invoice', icon: IconPlus, act: () => void navigate('/invoices/new') }] : []),
    { name: 'Your account', icon: IconUserCircle, act: () => void navigate('/me') },
    { name: 'Keyboard shortcuts', icon: IconKeyboard, act: openShortcuts },
    { name: 'Sign out', icon: IconLogout, act: () => void signOut() },
  ]
  const search = {
    name: `Search all records for “${q}”`,
    about: '',
    icon: IconSearch,
    act: () => void navigate(`/search?${new URLSearchParams({ q }).toString()}`),
  }
  return {
    commands: all.filter(({ name }) => q === '' || begins(name)).map((each) => ({ ...each, about: '' })),
    search: q === '' || role === 'developer' ? [] : [search],
  }
}

const none: readonly SearchResult[] = []

/** The records that match; empty while nothing is typed. The previous ones stay until the next arrive. */
function useFound(query: string): readonly SearchResult[] {
  const q = query.trim()
  const [found, setFound] = useState(none)
  useEffect(() => {
    if (q === '') return
    const given = new AbortController()
    const address = `/search?${new URLSearchParams({ q, limit: '3' }).toString()}`
    const search = async () => {
      // Commands work without the records; the search page shows why it fails.
      const { results } = await read<SearchResults>(address, given.signal).catch(() => ({ results: [] }))
      if (!given.signal.aborted) setFound(results)
    }
    const timer = setTimeout(() => void search(), pause)
    return () => {
      clearTimeout(timer)
      given.abort()
    }
  }, [q])
  return q === '' ? none : found
}
