import type { MouseEvent } from 'react'
import { download } from '../api.ts'
import { notifyFailure } from './notify.ts'

/** Saves the file of a link. If the server refuses it, says why: the browser alone would only show a failed download. */
export async function saveLinked(event: MouseEvent<HTMLAnchorElement>): Promise<void> {
  event.preventDefault()
  try {
    await download(event.currentTarget.href)
  } catch (error) {
    notifyFailure('The file was not created', error)
  }
}
