import { ActionIcon, Badge, Button, Menu } from '@mantine/core'
import { IconDots, IconHistory, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useLoaderData, useRevalidator } from 'react-router'
import type { RevisionList } from '../../../src/clients/schema.ts'
import type { TemplateRevision } from '../../../src/drafting/schema.ts'
import { ApiError, change, read } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { EditForm } from '../../components/edit-form.tsx'
import { useEdited } from '../../components/edited.ts'
import { Empty } from '../../components/empty.tsx'
import { LongText } from '../../components/long-text.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { useOpened } from '../../components/opened.ts'
import { Page } from '../../components/page.tsx'
import { useRole } from '../../components/role.ts'
import { Ago } from '../../components/time.tsx'
import { valuesOf, type Field, type Value } from '../../fields.ts'
import { counted } from '../../words.ts'
import type { Template, TemplateList } from '../letter/wire.ts'
import { Revisions } from '../record/revisions.tsx'
import classes from './templates.module.css'

const fields: readonly Field[] = [
  { name: 'name', label: 'Name', kind: 'line', required: true, maxLength: 200 },
  { name: 'kind', label: 'Kind of letter', kind: 'line', required: true, maxLength: 60 },
  {
    name: 'is_default',
    label: 'Use',
    kind: 'choice',
    choices: { false: 'When chosen', true: 'Default for its kind' },
  },
  { name: 'instructions', label: 'Instructions', kind: 'text', required: true },
]

/** The firm's templates for drafting letters. Partners change them. */
export function TemplatesPage() {
  const { templates } = useLoaderData<TemplateList>()
  const isPartner = useRole() === 'partner'
  const { isOpen, opener, open, close } = useOpened()
  const { edited, removed, onEditing } = useEdited(templates)
  const shown = [...templates.map((template) => edited.get(template.id) ?? template), ...removed]
  const kinds = [...new Set(shown.map(({ kind }) => kind))]
  return (
    <Page
      title="Templates"
      aside={counted(templates.length, 'template')}
      actions={
        isPartner &&
        !isOpen && (
          <Button ref={opener} variant="default" leftSection={<IconPlus size={15} />} onClick={open}>
            Add template
          </Button>
        )
      }
    >
      <p className={classes.hint}>
        Instructions for letters that a model drafts. A new draft starts with the default of a kind. If it is about
        disputes only, that is a kind with “dispute” in its name.
        {!isPartner && ' Partners change them.'}
      </p>
      {isOpen && (
        <div className={classes.template}>
          <TemplateForm onClose={close} />
        </div>
      )}
      {shown.length === 0 && !isOpen && (
        <Empty title="No templates yet">
          <p>
            {isPartner
              ? 'Save the instructions that you use often, one for each kind of letter.'
              : 'Partners can save instructions here. Until then, you write them for each letter.'}
          </p>
        </Empty>
      )}
      {kinds.map((kind) => (
        <section key={kind} className={classes.kind}>
          <h2>{kind}</h2>
          <ul>
            {shown
              .filter((template) => template.kind === kind)
              .map((template) => (
                <li key={template.id}>
                  <Entry template={template} isPartner={isPartner} onEditing={onEditing} />
                </li>
              ))}
          </ul>
        </section>
      ))}
    </Page>
  )
}

interface EntryProps {
  readonly template: Template
  readonly isPartner: boolean
  /** Called when its form opens and closes. */
  readonly onEditing: (template: Template, isEditing: boolean) => void
}

function Entry({ template, isPartner, onEditing }: EntryProps) {
  const { isOpen, opener, open, close } = useOpened({ onTurn: (opened) => onEditing(template, opened) })
  const [revisions, setRevisions] = useState<RevisionList>()
  const { revalidate } = useRevalidator()
  const address = `/templates/${template.id}`
  if (isOpen) {
    return (
      <article className={classes.template}>
        <TemplateForm template={template} onClose={close} />
      </article>
    )
  }
  async function showVersions() {
    try {
      setRevisions(revisions ? undefined : await readVersions(address))
    } catch (error) {
      notifyFailure('The versions were not loaded', error)
    }
  }
  async function remove() {
    const sure = await confirm({
      title: 'Remove this template?',
      text: 'Letters drafted with it keep their instructions.',
      action: 'Remove template',
    })
    if (!sure) return
    try {
      await change(address, { method: 'DELETE', version: template.version })
      notifyDone('The template was removed.')
    } catch (error) {
      notifyFailure('The template was not removed', error)
    }
    await revalidate()
  }
  return (
    <article className={classes.template}>
      <header className={classes.head}>
        <h3>{template.name}</h3>
        {template.is_default && <Badge color="harbour">Default</Badge>}
        <span className={classes.space} />
        {isPartner && (
          <ActionIcon ref={opener} aria-label={`Edit ${template.name}`} onClick={open}>
            <IconPencil size={16} />
          </ActionIcon>
        )}
        <Menu position="bottom-end" width={184} shadow="md">
          <Menu.Target>
            <ActionIcon aria-label={`More actions for ${template.name}`}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconHistory size={16} />} onClick={() => void showVersions()}>
              {revisions ? 'Hide versions' : 'Earlier versions'}
            </Menu.Item>
            {isPartner && (
              <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => void remove()}>
                Remove template
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </header>
      <LongText text={template.instructions} />
      <footer className={classes.origin}>
        Changed{' '}
        {template.updated_by && (
          <>
            by <bdi>{template.updated_by.name}</bdi>,{' '}
          </>
        )}
        <Ago time={template.updated_at} />
      </footer>
      {revisions && <Revisions fields={fields} list={revisions} address={`${address}/revisions`} />}
    </article>
  )
}

/** The versions of a template, as those of a record. */
async function readVersions(address: string): Promise<RevisionList> {
  const { revisions } = await read<{ revisions: readonly TemplateRevision[] }>(`${address}/revisions`)
  return { revisions: revisions.map(({ removed, ...rest }) => ({ ...rest, archived: removed })), next: null }
}

interface TemplateFormProps {
  /** Absent for a new one. */
  readonly template?: Template
  readonly onClose: () => void
}

function TemplateForm({ template, onClose }: TemplateFormProps) {
  const { revalidate } = useRevalidator()
  return (
    <EditForm
      label={template ? 'Edit template' : 'New template'}
      saveLabel={template ? 'Save' : 'Add template'}
      fields={fields}
      initial={
        template
          ? { ...valuesOf(fields, template), is_default: String(template.is_default) }
          : { name: '', kind: '', is_default: 'false', instructions: '' }
      }
      {...(template && { version: template.version })}
      save={async (body, version) => {
        try {
          return await change(template ? `/templates/${template.id}` : '/templates', {
            method: template ? 'PATCH' : 'POST',
            body: withBoolean(body),
            ...(version !== undefined && { version }),
          })
        } catch (error) {
          throw error instanceof ApiError && error.status === 404 ? removedMeanwhile(error) : error
        }
      }}
      onSaved={async () => {
        await revalidate()
        onClose()
      }}
      onCancel={onClose}
    />
  )
}

const removedMeanwhile = ({ status, refusal }: ApiError): ApiError =>
  new ApiError(status, {
    ...refusal,
    reason: 'This template was removed while you were writing. To keep your text, copy it into a new template.',
  })

function withBoolean({ is_default: chosen, ...rest }: Readonly<Record<string, Value | null>>): object {
  return chosen === undefined ? rest : { ...rest, is_default: chosen === 'true' }
}
