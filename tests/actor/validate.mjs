// Apify's own validators, for test_definition.py: a job on standard input, what they say on standard output, both JSON.
//   {"schemas": {"actor": ..., "dataset": ..., ...}, "inputs": [input, ...]}
//   -> {"schemas": {"actor": [message, ...], ...}, "inputs": [[message, ...], ...], "memory": [MB of the run with that input, ...]}
import { readFileSync } from 'node:fs';
import * as schemas from '@apify/json_schemas';
import { validateInputSchema, validateInputUsingValidator } from '@apify/input_schema';
import { calculateRunDynamicMemory } from '@apify/actor-memory-expression';
import Ajv from 'ajv/dist/2019.js';

const given = JSON.parse(readFileSync(0, 'utf8'));
const validators = {
    actor: schemas.getActorSchemaValidator,
    dataset: schemas.getDatasetSchemaValidator,
    keyValueStore: schemas.getKeyValueStoreSchemaValidator,
    output: schemas.getOutputSchemaValidator,
    input: schemas.getInputSchemaValidator,
};

const messages = (name, schema) => {
    const validate = validators[name]();
    return validate(schema) ? [] : validate.errors.map((error) => `${error.instancePath} ${error.message}`);
};

const ajv = new Ajv.default({ strict: false, allErrors: true, unicodeRegExp: false });
validateInputSchema(ajv, given.schemas.input); // throws what the build on the platform would say
const { $schema, ...bare } = given.schemas.input; // the editor hint of the file is no schema to ajv
const validate = ajv.compile(bare);

const memory = (input) => calculateRunDynamicMemory(String(given.schemas.actor.defaultMemoryMbytes), { input, runOptions: {} });

process.stdout.write(JSON.stringify({
    schemas: Object.fromEntries(Object.entries(given.schemas).map(([name, schema]) => [name, messages(name, schema)])),
    inputs: given.inputs.map((input) => validateInputUsingValidator(validate, given.schemas.input, input).map((error) => error.message)),
    memory: await Promise.all(given.inputs.map((input) => memory(input).catch(() => null))),
}));
