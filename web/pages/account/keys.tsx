import { ActionIcon, Badge, Button, Menu } from '@mantine/core'
import { IconBan, IconDots, IconGauge, IconPlus, IconRefresh } from '@tabler/icons-react'
import { useRevalidator } from 'react-router'
import type { GrantedAccountShown, KeyShown } from '../../../src/accounts/schema.ts'
import { change } from '../../api.ts'
import { ActionsHead } from '../../components/actions-head.tsx'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import tables from '../../components/table.module.css'
import { Ago } from '../../components/time.tsx'
import { exactTime } from '../../locale.ts'
import classes from './account.module.css'
import type { Opened } from './dialogs.tsx'
import { keyLimitTexts } from './key-limits.ts'

interface KeysProps {
  readonly data: { readonly account: GrantedAccountShown; readonly keys: readonly KeyShown[] }
  /** Absent for those who only look. */
  readonly open?: (dialog: Opened) => void
}

/** The keys of an account, newest first. */
export function Keys({ data: { account, keys }, open }: KeysProps) {
  return (
    <section className={classes.section} aria-labelledby="keys">
      <div className={classes.head}>
        <h2 id="keys">Keys</h2>
        {account.status === 'open' && open && (
          <Button leftSection={<IconPlus size={15} />} onClick={() => open({ dialog: 'key' })}>
            New key
          </Button>
        )}
      </div>
      {keys.length === 0 ? (
        <p className={classes.none}>No keys yet. A backend needs one to call the API with this account.</p>
      ) : (
        <div className={tables.frame}>
          <table className={tables.table}>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Status</th>
                <th scope="col" className={tables.wide}>
                  Models
                </th>
                <th scope="col" className={tables.wide}>
                  Limits
                </th>
                <th scope="col" className={tables.wide}>
                  Expires
                </th>
                <th scope="col" className={tables.wide}>
                  Last used
                </th>
                {open && <ActionsHead />}
              </tr>
            </thead>
            <tbody>
              {keys.toReversed().map((each) => (
                <KeyRow key={each.id} apiKey={each} currency={account.currency} open={open} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

interface KeyRowProps {
  readonly apiKey: KeyShown
  readonly currency: string
  readonly open: KeysProps['open'] | undefined
}

function KeyRow({ apiKey, currency, open }: KeyRowProps) {
  const { status, allowed_models: models, expires_at: ends, last_used_at: used } = apiKey
  const limits = keyLimitTexts(apiKey, currency)
  return (
    <tr>
      <td>
        <KeyName apiKey={apiKey} limits={limits} />
      </td>
      <td className={classes.status}>
        <Status apiKey={apiKey} />
      </td>
      <td className={`${tables.wide} ${classes.models}`}>{models?.join(', ') ?? 'Every model'}</td>
      <td className={tables.wide}>
        {limits.length === 0 ? 'The account’s' : limits.map((limit) => <div key={limit}>{limit}</div>)}
      </td>
      <td className={tables.wide}>{ends === null ? 'Never' : exactTime(ends)}</td>
      <td className={tables.wide}>{used === null ? 'Never' : <Ago time={used} />}</td>
      {open && <td className={tables.actions}>{status === 'valid' && <KeyMenu apiKey={apiKey} open={open} />}</td>}
    </tr>
  )
}

/** The name, and on a phone what the columns of a wide screen show. */
function KeyName({ apiKey, limits }: { readonly apiKey: KeyShown; readonly limits: readonly string[] }) {
  const { name, public_id: publicId, allowed_models: models, expires_at: ends, last_used_at: used } = apiKey
  return (
    <span className={classes.keyName}>
      <strong>{name}</strong>
      <span className={classes.text}>tg_{publicId}…</span>
      <span className={classes.narrow}>
        {models?.join(', ') ?? 'Every model'} · {used === null ? 'never used' : <Ago time={used} />}
        {ends !== null && ` · until ${exactTime(ends)}`}
        {limits.length > 0 && ` · ${limits.join(' · ')}`}
      </span>
    </span>
  )
}

function Status({ apiKey: { status, replaced_by: replacedBy } }: { readonly apiKey: KeyShown }) {
  if (status === 'revoked') return <Badge color="red">Revoked</Badge>
  if (status === 'expired') return <Badge color="gray">{replacedBy === null ? 'Expired' : 'Replaced'}</Badge>
  return replacedBy === null ? <Badge color="teal">Valid</Badge> : <Badge color="orange">Being replaced</Badge>
}

const revokesKey =
  'Requests with this key are refused within a second. It cannot be undone. To replace a key without an interruption, rotate it.'
const revokesScratchKey =
  'Calls that this person tries in the API documentation are refused at once. They can get a new scratch key after 24 hours.'

function KeyMenu({ apiKey, open }: { readonly apiKey: KeyShown; readonly open: (dialog: Opened) => void }) {
  const { revalidate } = useRevalidator()
  async function revoke() {
    const sure = await confirm({
      title: `Revoke ${apiKey.name}?`,
      text: apiKey.person_id === null ? revokesKey : revokesScratchKey,
      action: 'Revoke',
    })
    if (!sure) return
    try {
      await change(`/keys/${apiKey.id}/revoke`, { method: 'POST' })
      notifyDone(`${apiKey.name} is revoked.`)
    } catch (error) {
      notifyFailure('The key was not revoked', error)
    }
    await revalidate()
  }
  return (
    <Menu position="bottom-end" width={160} shadow="md">
      <Menu.Target>
        <ActionIcon aria-label={`More actions for ${apiKey.name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {apiKey.person_id === null && (
          <Menu.Item leftSection={<IconGauge size={16} />} onClick={() => open({ dialog: 'limits', apiKey })}>
            Limits
          </Menu.Item>
        )}
        {apiKey.replaced_by === null && apiKey.person_id === null && (
          <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => open({ dialog: 'rotate', apiKey })}>
            Rotate
          </Menu.Item>
        )}
        <Menu.Item className={classes.danger} leftSection={<IconBan size={16} />} onClick={() => void revoke()}>
          Revoke
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
