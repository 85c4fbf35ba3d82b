import { createHash } from 'node:crypto';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { fileToWrite, SAVE_OPTIONS } from '../../results/save.js';
import { bundleFiles } from './publishing/bundle-files.js';
import { manifestOfPackage, manifestProblems } from './publishing/bundle-manifest.js';
import { failOn, readDocument, text } from './publishing/check-document.js';
import { zip } from './publishing/zip.js';

/** `fullmcp publish bundle`. */
export const bundle: Command = {
  usage: '[folder] [-o file]',
  details:
    'Packs a project into an .mcpb file, which hosts such as Claude Desktop install with a double click. The folder has a manifest.json;\n--init writes one out of package.json. The manifest is checked first: its fields, the files that it names, and the settings that it uses.\nHidden files, logs, source maps and lock files are left out, and so is everything that .mcpbignore names. Build the project and install\nits dependencies before: npm ci --omit=dev. The same files give the same bytes.',
  words: [0, 1],
  options: {
    ...SAVE_OPTIONS,
    init: { type: 'boolean', help: 'write a manifest.json, and pack nothing' },
  },
  examples: [
    {
      line: 'fullmcp publish bundle --init',
      says: 'Writes manifest.json out of package.json. Edit it before you continue.',
    },
    { line: 'fullmcp publish bundle . -o shop.mcpb', says: 'Checks and packs the project.' },
  ],
  json: '{ ok: boolean, file: string, bytes: number, files: number, sha256: string, name: string, version: string, problems?: string[] }, with --init { ok: true, file: string }; ok is false if the manifest has problems, which are then in problems',
  run: async (input) => {
    const { out } = input;
    const [folder = '.'] = input.words;
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw usageError(`${folder} is not a folder.`);
    if (input.flag('init')) return writeManifest(folder, input);
    const path = join(folder, 'manifest.json');
    const manifest = readDocument(path);
    if (manifest === undefined)
      throw usageError(`${path} does not exist. Write one with: fullmcp publish bundle ${folder} --init`);
    const name = text(manifest, 'name') ?? '';
    const version = text(manifest, 'version') ?? '';
    const file = fileToWrite(input) ?? `${plainName(`${name}-${version}`)}.mcpb`;
    const files = bundleFiles(folder, file);
    const problems = manifestProblems(manifest, new Set(files.map((one) => one.path)));
    failOn(problems, { about: path, more: { file }, out });
    const bytes = packed(files);
    save(file, bytes, input.text('output') === undefined || input.flag('force'));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    out.json({ ok: true, file, bytes: bytes.length, files: files.length, sha256, name, version });
    out.value(file);
    if (!out.isJson)
      out.note(`${files.length} files, ${Math.ceil(bytes.length / 1000)} kB, sha256 ${sha256}`);
  },
};

function writeManifest(folder: string, { out, flag }: Typed): void {
  const found = readDocument(join(folder, 'package.json'));
  if (found === undefined)
    throw usageError(`${join(folder, 'package.json')} does not exist, so a manifest cannot be made.`);
  const file = join(folder, 'manifest.json');
  writeNew(file, manifestOfPackage(found), flag('force'));
  out.json({ ok: true, file });
  out.value(file);
}

/** Writes a JSON document, and keeps one that exists unless `force`. */
export function writeNew(file: string, document: JsonObject, force: boolean): void {
  try {
    writeFileSync(file, `${JSON.stringify(document, undefined, 2)}\n`, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw usageError(`${file} exists. --force overwrites it.`);
    throw new CommandError('failed', `${file} cannot be written: ${message}.`);
  }
}

function packed(files: Parameters<typeof zip>[0]): Buffer {
  try {
    return zip(files);
  } catch (error) {
    throw usageError(`The bundle cannot be written: ${(error as Error).message}.`);
  }
}

// Half a bundle never has the name of a bundle.
function save(file: string, bytes: Buffer, force: boolean): void {
  const part = `${file}.${process.pid}.part`;
  try {
    if (!force && statSync(file, { throwIfNoEntry: false })) throw new Error('it exists');
    writeFileSync(part, bytes);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw new CommandError('failed', `${file} cannot be written: ${(error as Error).message}.`);
  }
}

function plainName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return plain.slice(0, 100) || 'server';
}
