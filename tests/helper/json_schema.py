# SPDX-License-Identifier: MIT
# json_schema.py DIRECTORY NAME DOCUMENT: validates the document with the schema in the directory whose
# file name begins with NAME. It may refer to the other schemas there. Prints the errors.
import glob
import json
import os
import sys

import jsonschema

directory, name, document = sys.argv[1:]
schemas = {}
main = None
for path in glob.glob(os.path.join(directory, "*.json")):
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    schemas[schema.get("$id", path)] = schema
    if os.path.basename(path).startswith(name):
        main = schema
if main is None:
    sys.exit(f"no schema {name}*.json in {directory}")
with open(document, encoding="utf-8") as file:
    instance = json.load(file)
resolver = jsonschema.RefResolver(main.get("$id", ""), main, schemas)
errors = list(jsonschema.Draft7Validator(main, resolver=resolver).iter_errors(instance))
for error in errors[:10]:
    print("/".join(map(str, error.absolute_path)), error.message)
sys.exit(1 if errors else 0)
