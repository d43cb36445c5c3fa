import path from 'node:path'
import { withFileLock } from '../../platform/system/file-lock.ts'
import { makeFolder } from '../../platform/system/folder.ts'
import { OperatorError } from '../../platform/problems.ts'
import { inspectModelFile, type ModelFile } from '../local/gguf.ts'
import { download, type Progress } from './download.ts'
import { exists, openPartialFile, type PartialFile } from './partial-file.ts'
import { faultOf } from './refusal.ts'
import { createConnections } from './request.ts'
import type { ModelSource } from './source.ts'

export { parseModelSource, type ModelSource } from './source.ts'
export type { Progress } from './download.ts'

export interface PullNeeds {
  readonly source: ModelSource
  /** The path of the finished file. */
  readonly file: string
  /** The expected SHA-256, in lower-case hex. */
  readonly sha256?: string | undefined
  readonly onProgress: (progress: Progress) => void
  /** A PEM certificate to trust instead of the usual ones. */
  readonly authority?: string
  /** Milliseconds between attempts. Default 1000. */
  readonly pause?: number
}

/** A complete and verified model file. */
export interface PulledModel {
  readonly file: string
  readonly bytes: number
  readonly sha256: string
  /** The checksum was compared with the operator's (`given`), with the host's (`announced`), or with none (null). */
  readonly comparedWith: 'given' | 'announced' | null
  readonly model: Extract<ModelFile, { ok: true }>
}

const defaultPause = 1000
/** Milliseconds that a second download of the same file waits for the first one. */
const patience = 2000

/**
 * Downloads a model file and resumes an earlier download. The file gets its final name only when it is complete, has the
 * right checksum and can be loaded by llama.cpp. Throws OperatorError with what to do.
 */
export async function pullModel(needs: PullNeeds): Promise<PulledModel> {
  const { file, source } = needs
  const folder = path.dirname(file)
  try {
    await makeFolder(folder)
    return await withFileLock(`${file}.lock`, () => pullAlone(needs), { patience })
  } catch (error) {
    throw faultOf(error, source.url.host, folder)
  }
}

async function pullAlone(needs: PullNeeds): Promise<PulledModel> {
  const { file } = needs
  if (await exists(file)) {
    throw new OperatorError(`${file} already exists. Remove it first, or choose another place with --to.`)
  }
  await using part = await openPartialFile(file)
  try {
    return await pullInto(part, needs)
  } catch (error) {
    if (part.size() === 0) await part.remove()
    throw error
  }
}

async function pullInto(part: PartialFile, needs: PullNeeds): Promise<PulledModel> {
  const { file, source, sha256: given, onProgress, authority, pause = defaultPause } = needs
  const dispatcher = createConnections(authority)
  try {
    const announced = await download({ source, part, dispatcher, onProgress, pause })
    const comparedWith = given !== undefined ? 'given' : announced.sha256 !== undefined ? 'announced' : null
    const wanted = given ?? announced.sha256
    const sha256 = part.digest()
    if (wanted !== undefined && wanted !== sha256) throw await wrongChecksum(part, wanted, sha256)
    const model = await inspectModelFile(part.path)
    if (!model.ok) throw await unusable(part, model.reason, file)
    await part.finish()
    return { file, bytes: part.size(), sha256, comparedWith, model }
  } finally {
    await dispatcher.destroy()
  }
}

async function wrongChecksum(part: PartialFile, wanted: string, found: string): Promise<OperatorError> {
  await part.remove()
  return new OperatorError(
    `The file has the SHA-256 ${found} instead of ${wanted}: it was changed or damaged, so it was removed. Try again, or choose another source.`,
  )
}

async function unusable(part: PartialFile, reason: string, file: string): Promise<OperatorError> {
  await part.remove()
  return new OperatorError(`${reason.replace(part.path, path.basename(file))} The download was removed.`)
}
