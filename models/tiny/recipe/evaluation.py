"""Write evaluation.jsonl: held-out examples of the corpus and the prompts worded by hand, with what every good reply carries."""

import argparse
import collections
import json
import re
from pathlib import Path

from corpus import people
from corpus.examples import example
from fresh import FRESH
from handwritten import SAMPLE_CLIENTS, SAMPLE_INSTRUCTIONS, WORDED, WORDED_OFF_TOPIC

FIRST_SEED = 1_000
JOBS = ("letter", "summary", "actions", "dispute")
# Words that begin a line of a letter and hardly ever stand elsewhere.
FRAME = ["Dear", "Kind", "Yours", "Best", "Warm", "Tollgate", "Tollgate's", "I", "I'm", "Client", "We"]


def record(kind: str, job: str, messages: list[dict[str, str]], required: list[str]) -> dict:
    roles = {message["role"]: message["content"] for message in messages}
    return {"set": kind, "job": job, "instructions": roles.get("system", ""), "input": roles["user"], "required": required}


def ordinary_words(examples: int = 4000) -> list[str]:
    """Words with which replies begin their sentences and which also occur in lower case: a name never does."""
    starts: collections.Counter[str] = collections.Counter()
    lower: set[str] = set()
    for seed in range(examples):
        reply = example(FIRST_SEED + seed, held_out=True).reply
        starts.update(re.findall(r"(?:^|[.?!:]\s+|\n-? ?)([A-Z][a-z']*)", reply))
        lower.update(re.findall(r"\b[a-z']+\b", reply))
    names = {*people.WOMEN, *people.MEN, *people.LAST, "Miss"}
    return sorted(
        {word for word, count in starts.items() if (word.lower() in lower or count > 15) and count > 1 and len(word) > 1 and word not in names}
        | {*FRAME, "A"}
    )


def records(per_job: int):
    yield {"ordinary": ordinary_words()}
    for job in JOBS:
        for seed in range(per_job):
            drawn = example(FIRST_SEED + seed, held_out=True, job=job)
            yield record("held out", job, drawn.messages, drawn.required)
    for prompt in WORDED_OFF_TOPIC:
        yield {"set": "held out", "job": "offtopic", "instructions": "", "input": prompt.strip(), "required": []}
    for job, instructions, text, required in WORDED:
        yield {"set": "worded by hand", "job": job, "instructions": instructions, "input": text, "required": required.split("|")}
    for job, instructions, text, required in FRESH:
        yield {"set": "worded by hand, fresh", "job": job, "instructions": instructions, "input": text, "required": required.split("|")}
    for index, (notes, required) in enumerate(SAMPLE_CLIENTS):
        yield {
            "set": "sample clients",
            "job": "letter",
            "instructions": SAMPLE_INSTRUCTIONS[index % len(SAMPLE_INSTRUCTIONS)],
            "input": notes,
            "required": required.split("|"),
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("../evaluation.jsonl"))
    parser.add_argument("--per-job", type=int, default=200)
    chosen = parser.parse_args()
    with chosen.out.open("w") as file:
        for line in records(chosen.per_job):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
