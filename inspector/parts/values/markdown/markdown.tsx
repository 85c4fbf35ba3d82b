import type { ComponentChildren, VNode } from 'preact';
import { clean } from '../../../../src/tooling/clean.js';
import { CodeBlock } from '../code-block.js';
import { type Block, blocksOf } from './blocks.js';
import { Inline } from './inline.js';

const MAX_LENGTH = 100_000;

/** Markdown of a server, as elements of the page: no HTML, no pictures from elsewhere, links to the web only. */
export function Markdown({ text }: { readonly text: string }): VNode {
  return (
    <div class="markdown">
      {blocksOf(clean(text.slice(0, MAX_LENGTH))).map((block, at) => (
        <BlockView key={at} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block }: { readonly block: Block }): VNode {
  switch (block.kind) {
    case 'heading': {
      // The page has its own first and second level.
      const Level = `h${Math.min(6, block.level + 2)}` as 'h3' | 'h4' | 'h5' | 'h6';
      return (
        <Level>
          <Inline text={block.text} />
        </Level>
      );
    }
    case 'code':
      return <CodeBlock text={block.text} label={block.language || 'Code'} isWrapped={false} />;
    case 'rule':
      return <hr />;
    case 'quote':
      return <blockquote>{nested(block.blocks)}</blockquote>;
    case 'list': {
      const items = block.items.map((item, at) => <li key={at}>{nested(item)}</li>);
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table':
      return <Table rows={block.rows} />;
    case 'paragraph':
      return (
        <p>
          <Inline text={block.text} />
        </p>
      );
    default:
      return block satisfies never;
  }
}

function nested(blocks: readonly Block[]): ComponentChildren {
  const [only] = blocks;
  if (blocks.length === 1 && only?.kind === 'paragraph') return <Inline text={only.text} />;
  return blocks.map((block, at) => <BlockView key={at} block={block} />);
}

function Table({ rows }: { readonly rows: readonly (readonly string[])[] }): VNode {
  const [head = [], ...body] = rows;
  const cells = (row: readonly string[], Cell: 'th' | 'td') =>
    row.map((cell, at) => (
      <Cell key={at}>
        <Inline text={cell} />
      </Cell>
    ));
  return (
    <div class="markdown-table">
      <table>
        <thead>
          <tr>{cells(head, 'th')}</tr>
        </thead>
        <tbody>
          {body.map((row, at) => (
            <tr key={at}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
