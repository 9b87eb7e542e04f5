"""The material's statement about a claim, in words."""

from collections.abc import Mapping

from rocketchaos.harness.claims.registry import ARTICLES, Claim


def said(claim: Claim) -> str:
    """`Said in the article on the flow of a pull. Predicted: refuted.`, with what else it says."""
    articles = [ARTICLES[name] for name in claim.said_by]
    if not articles:
        who = "Nobody says it; it was read from the sources of RocketMQ."
    elif len(articles) == 1:
        who = f"Said in the article on {articles[0]}."
    else:
        who = f"Said in the articles on {', '.join(articles[:-1])} and {articles[-1]}."
    return " ".join(filter(None, (who, claim.said, f"Predicted: {predicted_text(claim)}.")))


def predicted_text(claim: Claim) -> str:
    """`refuted`; `confirmed (<4.9.4), refuted (>=4.9.4)`."""
    if not isinstance(claim.predicted, Mapping):
        return claim.predicted
    return ", ".join(f"{word} ({key})" for key, word in claim.predicted.items())
