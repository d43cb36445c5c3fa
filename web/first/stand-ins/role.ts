import { content } from './content.ts'

export const useRole = () => content.viewer?.person.role
