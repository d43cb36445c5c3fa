import { Type } from 'typebox'
import { openAiError } from '../../generation/calls/formats.ts'
import {
  answersWith,
  cancelled,
  common,
  creating,
  ending,
  free,
  listed,
  ofBatch,
  paging,
  reading,
} from '../operations.ts'
import * as schema from './schema.ts'

/** Files and batches in OpenAI's form. */
const { responses, lines } = answersWith(openAiError)
const changing = [...creating, 'not_found'] as const
const ofFile = Type.Object({ id: Type.String({ description: 'The id of the file.' }) })

export const uploadFile = {
  ...common,
  operationId: 'createFile',
  summary: "Upload a file for a batch (OpenAI's files)",
  description: `A JSON object in each line: \`custom_id\`, \`method\` (POST), \`url\` and \`body\`. It is stored encrypted, for the batch alone. ${free}`,
  consumes: ['multipart/form-data'],
  body: schema.fileForm,
  ...responses(schema.fileObject, 'The file.', changing),
}

export const listFiles = {
  ...common,
  operationId: 'listFiles',
  summary: 'List the uploaded files',
  description: `The newest first, without results. ${free}`,
  querystring: schema.pageQuery,
  ...responses(schema.listedFiles, 'One page.', paging),
}

export const retrieveFile = {
  ...common,
  operationId: 'retrieveFile',
  summary: 'Show a file',
  description: `One that was uploaded, or the results of a batch. ${free}`,
  params: ofFile,
  ...responses(schema.fileObject, 'The file.', reading),
}

export const downloadFile = {
  ...common,
  operationId: 'downloadFile',
  summary: 'Download a file',
  description: `The results of a batch are removed a day after all of them were downloaded. Their lines are in the order of the requests. ${free}`,
  params: ofFile,
  ...lines(reading),
}

export const deleteFile = {
  ...common,
  operationId: 'deleteFile',
  summary: 'Delete a file',
  description: `Its batches go on: they have copies of their requests. ${free}`,
  params: ofFile,
  ...responses(schema.deletedFile, 'The file is deleted.', reading),
}

export const createBatch = {
  ...common,
  operationId: 'createBatch',
  summary: "Queue a batch of requests (OpenAI's batches)",
  description:
    'The requests of an uploaded file are made within 24 hours, as far as other requests leave room in the limits, and charged to this key as ' +
    'others are. All are checked first: if any is at fault, the batch has the status `failed`, `errors` names the lines, and nothing is queued.',
  body: schema.newBatch,
  ...responses(schema.batchObject, 'The batch.', changing),
}

export const listBatches = {
  ...common,
  operationId: 'listBatches',
  summary: 'List the batches of the account',
  description: listed,
  querystring: schema.pageQuery,
  ...responses(schema.listedBatches, 'One page.', paging),
}

export const retrieveBatch = {
  ...common,
  operationId: 'retrieveBatch',
  summary: 'Show a batch',
  description: `How far it is, and where its results are. ${free}`,
  params: ofBatch,
  ...responses(schema.batchObject, 'The batch.', reading),
}

export const cancelBatch = {
  ...common,
  operationId: 'cancelBatch',
  summary: 'Cancel a batch',
  description: cancelled,
  params: ofBatch,
  ...responses(schema.batchObject, 'The batch.', ending),
}
