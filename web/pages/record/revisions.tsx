import { useLoaderData } from 'react-router'
import type { RevisionList } from '../../../src/clients/schema.ts'
import { differences, replacement } from '../../components/differences.ts'
import { More } from '../../components/more.tsx'
import { Ago } from '../../components/time.tsx'
import {
  billingFields,
  clientVersionFields,
  isSame,
  nouns,
  valuesOf,
  type Field,
  type Value,
  type Values,
} from '../../fields.ts'
import classes from './revisions.module.css'
import { DownloadButton } from './download-button.tsx'
import { RestoreVersion, type Restoring } from './restore-version.tsx'
import { useRecord } from './use-record.ts'

type Revision = RevisionList['revisions'][number]

/** The versions of the client itself, at /clients/<id>/revisions. */
export function RecordRevisions() {
  const record = useRecord()
  const { id } = record
  const fields = [...nouns.client.fields, ...billingFields].filter(({ kind }) => kind !== 'consultant')
  const address = `/clients/${id}`
  return (
    <Revisions
      fields={clientVersionFields()}
      list={useLoaderData<RevisionList>()}
      address={`${address}/revisions`}
      restoring={record.status === 'active' ? { address, fields, current: record } : undefined}
    />
  )
}

interface RevisionsProps {
  readonly fields: readonly Field[]
  readonly list: RevisionList
  /** The URL of further pages. */
  readonly address: string
  /** The target for restoring an older version; absent if it cannot be changed. */
  readonly restoring?: Restoring | undefined
  /** The URL of the file of a version, for documents. */
  readonly download?: (version: number) => string
}

/** Who changed what, newest first, with the differences from the previous version. */
export function Revisions({ fields, list, address, restoring, download }: RevisionsProps) {
  return (
    <section className={classes.revisions}>
      <h2>Versions</h2>
      <More
        first={list.revisions}
        next={list.next}
        pick={(page: RevisionList) => page.revisions}
        idOf={({ version }) => version}
        address={address}
      >
        {(revisions, isWhole) => (
          <ol>
            {/* The oldest version on the page is shown once its predecessor is loaded for comparison. */}
            {revisions.slice(0, isWhole ? undefined : -1).map((revision, index) => (
              <RevisionEntry
                key={revision.version}
                fields={fields}
                revision={revision}
                before={revisions[index + 1]}
                restoring={restoring}
                file={download?.(revision.version)}
              />
            ))}
          </ol>
        )}
      </More>
    </section>
  )
}

interface RevisionEntryProps {
  readonly fields: readonly Field[]
  readonly revision: Revision
  readonly before: Revision | undefined
  readonly restoring: Restoring | undefined
  /** The URL of its file. */
  readonly file: string | undefined
}

function RevisionEntry({ fields, revision, before, restoring, file }: RevisionEntryProps) {
  const values = versionOf(fields, revision)
  const earlier = before && versionOf(fields, before)
  return (
    <li className={classes.revision}>
      <p className={classes.head}>
        <strong>{`Version ${revision.version}`}</strong>
        <span>
          {doneText(revision)}
          {revision.by ? (
            <>
              {' by '}
              <bdi>{revision.by.name}</bdi>
              {', '}
            </>
          ) : (
            ' '
          )}
          <Ago time={revision.at} />
        </span>
        {file !== undefined && <DownloadButton address={file} version={revision.version} />}
        {restoring && <RestoreVersion restoring={restoring} version={revision.version} data={revision.data} />}
      </p>
      {earlier && <Changes fields={fields} values={values} earlier={earlier} />}
    </li>
  )
}

function doneText({ archived, version, data }: Revision): string {
  if (archived) return 'Archived'
  if (version > 1) return 'Changed'
  return 'digest' in data ? 'Added' : 'Written'
}

/** Fields whose texts are compared word by word. */
const wordwise: ReadonlySet<Field['kind']> = new Set(['line', 'lines', 'text', 'names'])

function Changes(props: { readonly fields: readonly Field[]; readonly values: Values; readonly earlier: Values }) {
  const { fields, values, earlier } = props
  const changed = fields.filter(({ name }) => !isSame(values[name], earlier[name]))
  return (
    <dl className={classes.changes}>
      {changed.map(({ name, label, kind: fieldKind, choices }) => (
        <div key={name}>
          <dt>{label}</dt>
          <dd>
            {(wordwise.has(fieldKind) ? differences : replacement)(
              textOf(earlier[name], choices),
              textOf(values[name], choices),
            ).map(({ kind, text, key }) => {
              if (kind === 'same') return text
              return kind === 'added' ? <ins key={key}>{text}</ins> : <del key={key}>{text}</del>
            })}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** The values of a version, with the consultant's name. */
function versionOf(fields: readonly Field[], { data }: Revision): Values {
  const { consultant } = data
  const name = typeof consultant === 'object' && consultant !== null && 'name' in consultant ? consultant.name : ''
  return { ...valuesOf(fields, data), consultant_id: typeof name === 'string' ? name : '' }
}

function textOf(value: Value | undefined, choices: Field['choices']): string {
  if (typeof value !== 'string') return (value ?? []).join(', ')
  return choices?.[value] ?? value
}
