import { Switch } from '@mantine/core'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'
import classes from './me.module.css'
import { useAccount } from './use-own-change.ts'

/** Whether the person is mailed their tasks in the morning. */
export function TaskMail() {
  const { task_mail: isOn } = useAccount().me
  const { revalidate } = useRevalidator()
  const [isBusy, setBusy] = useState(false)
  if (isOn === null) return null

  async function turn(on: boolean) {
    setBusy(true)
    try {
      await change('/me/task-mail', { method: on ? 'POST' : 'DELETE' })
      await revalidate()
    } catch (error) {
      notifyFailure('The setting was not changed', error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <section className={classes.section}>
      <h2>Mail</h2>
      <Switch
        size="sm"
        label="Mail me my tasks in the morning"
        description="On working days on which tasks of yours are overdue or due, with their titles. Mail is not encrypted. It starts on the next day."
        checked={isOn}
        disabled={isBusy}
        onChange={({ currentTarget }) => void turn(currentTarget.checked)}
      />
    </section>
  )
}
