import type { ClientRecord, Note } from '../../src/clients/schema.ts'
import { LongText } from '../components/long-text.tsx'
import { Page } from '../components/page.tsx'
import entry from '../pages/record/entry.module.css'
import { Heading, Tabs } from '../pages/record/heading.tsx'
import items from '../pages/record/items.module.css'
import { Origin } from '../pages/record/origin.tsx'
import properties from '../pages/record/properties.module.css'
import { Billing, PropertyList } from '../pages/record/property-list.tsx'
import classes from '../pages/record/record.module.css'
import { summaryOf } from '../pages/record/summary.tsx'
import first from './first.module.css'

/** More than a large window shows. */
const firstNotes = 12

export function FirstRecord({ record }: { readonly record: ClientRecord }) {
  return (
    <Page title={record.name} heading={<Heading record={record} />}>
      <div className={classes.columns}>
        <div className={classes.side}>
          <aside className={properties.properties} aria-label="Client">
            <div className={properties.head}>
              <h2>Client</h2>
            </div>
            <PropertyList record={record} />
            <div className={properties.head}>
              <h2>Billing</h2>
            </div>
            <Billing record={record} />
          </aside>
        </div>
        <section className={classes.content} aria-label="Record content">
          <Tabs record={record} />
          <div className={items.items}>
            <span className={first.box} />
            <ol className={items.list}>
              {record.notes.slice(0, firstNotes).map((note) => (
                <li key={note.id}>
                  <Entry note={note} address={`/clients/${record.id}/notes/${note.id}`} />
                </li>
              ))}
            </ol>
          </div>
        </section>
      </div>
    </Page>
  )
}

function Entry({ note, address }: { readonly note: Note; readonly address: string }) {
  const { title, aside, text } = summaryOf(note)
  return (
    <article className={entry.entry}>
      <header className={entry.head}>
        <h3 className={entry.title}>
          <a href={address}>{title}</a>
        </h3>
        <span className={entry.aside} data-cut>
          {aside}
        </span>
      </header>
      {text !== '' && <LongText text={text} />}
      <Origin item={note} />
    </article>
  )
}
