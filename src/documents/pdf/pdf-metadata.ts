import type { OpenPdf } from 'pdfmake'
import { escapeHtml } from '../../platform/docs/html.ts'

/**
 * Escapes the title and the author of a PDF in its XMP metadata: pdfkit writes them into the XML as they are. To be called
 * before the end of the document.
 */
export function escapeMetadata(pdf: OpenPdf): void {
  const endMetadata = pdf.endMetadata.bind(pdf)
  pdf.endMetadata = () => {
    // The dictionary of information, which needs no escapes, is complete by now.
    pdf.info = Object.fromEntries(
      Object.entries(pdf.info).map(([name, value]) => [name, typeof value === 'string' ? escapeHtml(value) : value]),
    )
    endMetadata()
  }
}

/** The name under which Factur-X and ZUGFeRD look for the XML of an invoice. */
export const embeddedName = 'factur-x.xml'

/**
 * The XMP metadata of an invoice beyond what pdfkit writes: its author and, with XML embedded, the four properties of
 * Factur-X (section 6.2.2) with the extension schema that PDF/A demands for them.
 */
export function invoiceMetadata({
  author,
  hasXml,
}: {
  readonly author: string | undefined
  readonly hasXml: boolean
}): string {
  return `${author === undefined ? '' : creatorOf(author)}${hasXml ? `${properties}${extension}` : ''}`
}

const creatorOf = (author: string) => `
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <dc:creator><rdf:Seq><rdf:li>${escapeHtml(author)}</rdf:li></rdf:Seq></dc:creator>
</rdf:Description>`

const namespace = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#'

const properties = `
<rdf:Description rdf:about="" xmlns:fx="${namespace}">
  <fx:DocumentType>INVOICE</fx:DocumentType>
  <fx:DocumentFileName>${embeddedName}</fx:DocumentFileName>
  <fx:Version>1.0</fx:Version>
  <fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>
</rdf:Description>`

const described = {
  DocumentFileName: 'The name of the embedded XML document',
  DocumentType: 'The type of the hybrid document in capital letters, e.g. INVOICE or ORDER',
  Version: 'The actual version of the standard applying to the embedded XML document',
  ConformanceLevel: 'The conformance level of the embedded XML document',
}

const extension = `
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
    xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
  <pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
    <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
    <pdfaSchema:namespaceURI>${namespace}</pdfaSchema:namespaceURI>
    <pdfaSchema:prefix>fx</pdfaSchema:prefix>
    <pdfaSchema:property><rdf:Seq>${Object.entries(described).map(propertyOf).join('')}</rdf:Seq></pdfaSchema:property>
  </rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>`

function propertyOf([name, description]: readonly [string, string]): string {
  return `<rdf:li rdf:parseType="Resource">
      <pdfaProperty:name>${name}</pdfaProperty:name>
      <pdfaProperty:valueType>Text</pdfaProperty:valueType>
      <pdfaProperty:category>external</pdfaProperty:category>
      <pdfaProperty:description>${description}</pdfaProperty:description>
    </rdf:li>`
}
