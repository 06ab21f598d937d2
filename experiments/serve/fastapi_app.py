"""The same model behind FastAPI and the Python package: what `memoir serve` is compared with.

MODEL=titles.memoir uvicorn fastapi_app:app --workers 2
"""

import os

import memoir
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()
model = memoir.MemoirTextClassifier.load(os.environ["MODEL"])


class Request(BaseModel):
    texts: list[str]
    top_k: int = 5


@app.post("/predict")
def predict(request: Request):
    best = model.predict_topk(request.texts, k=request.top_k)
    return {
        "rows": [
            [{"class": name, "probability": share} for name, share in zip(names, shares)]
            for names, shares in zip(best.classes.tolist(), best.probabilities.tolist())
        ]
    }
