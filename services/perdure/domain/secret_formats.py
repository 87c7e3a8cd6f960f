"""Formats of secrets that announce themselves: a table, and nothing else.

Each row: the kind, strings of which one must be in the text (so that most texts cost no regular expression), and the
pattern. A group ``value`` is the secret within the match; a group ``password`` is one of a URL, beside its ``user``.
Source: the issuers' own documentation of their formats.
"""

from __future__ import annotations

import re

_B = r"(?<![A-Za-z0-9_-])"
_E = r"(?![A-Za-z0-9_-])"


def _prefixed(prefix: str, rest: str) -> re.Pattern[str]:
    return re.compile(f"(?<![A-Za-z0-9]){prefix}{rest}{_E}")


_PEM_LABEL = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?"
_SCHEMES = r"[a-z][a-z0-9+.-]{1,30}"

FORMATS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "private_key",
        ("PRIVATE KEY",),
        re.compile(
            f"-----BEGIN {_PEM_LABEL}-----(?P<value>.*?)(?=-----END {_PEM_LABEL}-----|\\Z|\n\n(?![A-Za-z0-9+/=]))",
            re.DOTALL,
        ),
    ),
    ("age_secret_key", ("AGE-SECRET-KEY-",), _prefixed("AGE-SECRET-KEY-1", "[0-9A-Z]{50,64}")),
    (
        "putty_key",
        ("PuTTY-User-Key-File",),
        re.compile(
            r"PuTTY-User-Key-File-\d:.{1,4000}?Private-Lines:\s*\d+\s(?P<value>.{1,8000}?)(?=Private-MAC|\Z)", re.DOTALL
        ),
    ),
    (
        "jwt",
        ("eyJ", "ey"),
        re.compile(f"{_B}ey[A-Za-z0-9_-]{{10,}}\\.ey[A-Za-z0-9_-]{{10,}}\\.[A-Za-z0-9_-]{{10,}}{_E}"),
    ),
    ("perdure_token", ("pdr_",), _prefixed("pdr_", "[a-z0-9]{12}_[A-Za-z0-9_-]{43}")),
    # code hosts and registries
    ("github_token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _prefixed("gh[pousr]_", "[A-Za-z0-9]{36,255}")),
    ("github_token", ("github_pat_",), _prefixed("github_pat_", "[A-Za-z0-9_]{36,255}")),
    (
        "gitlab_token",
        ("gl",),
        _prefixed("gl(?:pat|rt|dt|ptt|ft|cbt|imt|agent|soat|oas|ffct)-", "[A-Za-z0-9_.-]{18,320}"),
    ),
    ("bitbucket_token", ("ATBB", "ATCTT"), _prefixed("(?:ATBB|ATCTT3xFfGN0)", "[A-Za-z0-9_=-]{20,250}")),
    ("atlassian_token", ("ATATT",), _prefixed("ATATT3", "[A-Za-z0-9_=-]{50,250}")),
    ("npm_token", ("npm_",), _prefixed("npm_", "[A-Za-z0-9]{30,64}")),
    ("pypi_token", ("pypi-",), _prefixed("pypi-", "[A-Za-z0-9_-]{50,500}")),
    ("rubygems_key", ("rubygems_",), _prefixed("rubygems_", "[a-f0-9]{40,64}")),
    ("crates_token", ("cio",), _prefixed("cio", "[A-Za-z0-9]{32}")),
    ("docker_token", ("dckr_",), _prefixed("dckr_(?:pat|oat)_", "[A-Za-z0-9_-]{20,64}")),
    ("clojars_token", ("CLOJARS_",), _prefixed("CLOJARS_", "[a-z0-9]{60}")),
    # clouds
    ("aws_access_key", ("AKIA", "ASIA", "ABIA", "ACCA"), _prefixed("(?:AKIA|ASIA|ABIA|ACCA)", "[A-Z0-9]{16}")),
    (
        "aws_secret_key",
        ("secret", "SECRET", "Secret"),
        re.compile(
            r"(?i:aws_?(?:secret)?_?(?:access)?_?(?:key|secret)\w*|secret_?access_?key)[\"'\s]*[:=][\"'\s]*(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
    ),
    ("google_api_key", ("AIza",), _prefixed("AIza", "[A-Za-z0-9_-]{35}")),
    ("google_oauth_token", ("ya29.",), _prefixed(r"ya29\.", "[A-Za-z0-9_-]{20,}")),
    ("google_client_secret", ("GOCSPX-",), _prefixed("GOCSPX-", "[A-Za-z0-9_-]{20,40}")),
    ("google_refresh_token", ("1//0",), _prefixed("1//0", "[A-Za-z0-9_-]{30,200}")),
    ("azure_client_secret", ("8Q~", "7Q~"), _prefixed("[A-Za-z0-9_.~-]{3}[78]Q~", "[A-Za-z0-9_.~-]{31,34}")),
    (
        "azure_key",
        ("Key=",),
        re.compile(r"(?:AccountKey|SharedAccessKey|AccessKey)=(?P<value>[A-Za-z0-9+/]{40,100}={0,2})"),
    ),
    ("azure_sas", ("sig=",), re.compile(r"[?&]sig=(?P<value>[A-Za-z0-9%+/]{30,120}(?:={1,2})?)")),
    ("digitalocean_token", ("do",), _prefixed("do[opr]_v1_", "[a-f0-9]{64}")),
    ("alibaba_key", ("LTAI",), _prefixed("LTAI", "[A-Za-z0-9]{16,24}")),
    ("tencent_key", ("AKID",), _prefixed("AKID", "[A-Za-z0-9]{32}")),
    ("heroku_key", ("HRKU-",), _prefixed("HRKU-", "[A-Za-z0-9_-]{30,70}")),
    (
        "flyio_token",
        ("FlyV1 ", "fo1_"),
        re.compile(f"{_B}(?:fo1_[A-Za-z0-9_-]{{40,}}|FlyV1 fm\\d_[A-Za-z0-9_=,/+-]{{40,}})"),
    ),
    ("vercel_token", ("vcp_", "vck_"), _prefixed("vc[pikar]_", "[A-Za-z0-9]{24,64}")),
    ("netlify_token", ("nfp_",), _prefixed("nfp_", "[A-Za-z0-9]{36,44}")),
    ("supabase_token", ("sbp_", "sb_secret_"), _prefixed("(?:sbp_|sb_secret_)", "[A-Za-z0-9_-]{20,64}")),
    ("planetscale_token", ("pscale_",), _prefixed("pscale_(?:tkn|pw|oauth)_", "[A-Za-z0-9_.=-]{32,64}")),
    ("databricks_token", ("dapi",), _prefixed("dapi", "[a-f0-9]{32}(?:-\\d)?")),
    ("vault_token", ("hvs.", "hvb.", "hvr."), _prefixed(r"hv[sbr]\.", "[A-Za-z0-9_-]{24,300}")),
    ("terraform_token", (".atlasv1.",), _prefixed(r"[A-Za-z0-9]{14}\.atlasv1\.", "[A-Za-z0-9_=-]{60,70}")),
    (
        "doppler_token",
        ("dp.",),
        _prefixed(r"dp\.(?:pt|st|ct|scim|audit|sa)\.(?:[a-z0-9_-]{2,35}\.)?", "[A-Za-z0-9]{40,44}"),
    ),
    ("pulumi_token", ("pul-",), _prefixed("pul-", "[a-f0-9]{40}")),
    ("onepassword_token", ("ops_ey",), _prefixed("ops_ey", "[A-Za-z0-9+/=_-]{100,}")),
    # models
    ("anthropic_key", ("sk-ant-",), _prefixed("sk-ant-", "[A-Za-z0-9_-]{30,200}")),
    ("openai_key", ("sk-",), _prefixed("sk-(?:proj|svcacct|admin|None|or-v1)-", "[A-Za-z0-9_-]{30,250}")),
    ("openai_key", ("sk-",), _prefixed("sk-", "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{32,64}")),
    ("huggingface_token", ("hf_", "api_org_"), _prefixed("(?:hf_|api_org_)", "[A-Za-z0-9]{30,44}")),
    ("replicate_token", ("r8_",), _prefixed("r8_", "[A-Za-z0-9]{37,40}")),
    ("groq_key", ("gsk_",), _prefixed("gsk_", "[A-Za-z0-9]{40,60}")),
    ("xai_key", ("xai-",), _prefixed("xai-", "[A-Za-z0-9]{60,90}")),
    ("perplexity_key", ("pplx-",), _prefixed("pplx-", "[A-Za-z0-9]{40,64}")),
    ("pinecone_key", ("pcsk_",), _prefixed("pcsk_", "[A-Za-z0-9_]{40,90}")),
    ("langsmith_key", ("lsv2_",), _prefixed("lsv2_(?:pt|sk)_", "[a-f0-9]{32}_[a-f0-9]{10}")),
    # messages, payment, work
    ("slack_token", ("xox", "xapp-"), _prefixed("(?:xox[abeoprs]|xoxe\\.xox[bp]|xapp)-", "[A-Za-z0-9-]{10,250}")),
    (
        "slack_webhook",
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9/_-]{20,90})"),
    ),
    (
        "discord_webhook",
        ("/api/webhooks/",),
        re.compile(r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(?P<value>\d{15,21}/[A-Za-z0-9_-]{50,90})"),
    ),
    (
        "discord_token",
        (".",),
        re.compile(f"{_B}[MNO][A-Za-z0-9_-]{{23,27}}\\.[A-Za-z0-9_-]{{6}}\\.[A-Za-z0-9_-]{{27,40}}{_E}"),
    ),
    ("telegram_token", (":",), re.compile(f"{_B}(?:bot)?\\d{{8,10}}:[A-Za-z0-9_-]{{35}}{_E}")),
    ("stripe_key", ("sk_", "rk_"), _prefixed("[sr]k_(?:live|test)_", "[A-Za-z0-9]{16,250}")),
    ("stripe_webhook_secret", ("whsec_",), _prefixed("whsec_", "[A-Za-z0-9+/=]{24,64}")),
    ("twilio_key", ("SK",), _prefixed("SK", "[a-f0-9]{32}")),
    ("sendgrid_key", ("SG.",), _prefixed(r"SG\.[A-Za-z0-9_-]{16,32}\.", "[A-Za-z0-9_-]{16,64}")),
    ("mailgun_key", ("key-",), _prefixed("key-", "[a-f0-9]{32}")),
    ("mailchimp_key", ("-us",), _prefixed("[a-f0-9]{32}-us", r"\d{1,2}")),
    ("brevo_key", ("xkeysib-", "xsmtpsib-"), _prefixed("x(?:key|smtp)sib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}")),
    ("resend_key", ("re_",), _prefixed("re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,32}")),
    ("shopify_token", ("shp",), _prefixed("shp(?:at|ca|pa|ss|ua)_", "[a-fA-F0-9]{32}")),
    (
        "square_token",
        ("sq0", "EAAA"),
        _prefixed("(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}|EAAA[lE][A-Za-z0-9_-]{56,64})", ""),
    ),
    ("linear_key", ("lin_",), _prefixed("lin_(?:api|oauth)_", "[A-Za-z0-9]{32,64}")),
    ("notion_token", ("ntn_", "secret_"), _prefixed("(?:ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43})", "")),
    ("figma_token", ("fig",), _prefixed("fig[duro]{1,2}_", "[A-Za-z0-9_-]{36,60}")),
    ("airtable_token", ("pat",), _prefixed(r"pat[A-Za-z0-9]{14}\.", "[a-f0-9]{64}")),
    ("asana_token", ("/",), _prefixed(r"[12]/\d{14,18}(?:/\d{14,18})?:", "[a-f0-9]{32}")),
    ("postman_key", ("PMAK-",), _prefixed("PMAK-", "[a-f0-9]{24}-[a-f0-9]{34}")),
    ("dropbox_token", ("sl.",), _prefixed(r"sl\.(?:u\.)?", "[A-Za-z0-9_-]{120,}")),
    ("contentful_token", ("CFPAT-",), _prefixed("CFPAT-", "[A-Za-z0-9_-]{43}")),
    # observability
    (
        "grafana_token",
        ("glsa_", "glc_"),
        _prefixed("(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})", ""),
    ),
    ("newrelic_key", ("NRAK-", "NRJS-", "NRII-", "NRRA-"), _prefixed("NR(?:AK|JS|II|RA)-", "[A-Za-z0-9_-]{19,40}")),
    ("sentry_token", ("sntry",), _prefixed("sntry[su]_", "[A-Za-z0-9+/=_-]{40,250}")),
    ("dynatrace_token", ("dt0",), _prefixed(r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.", "[A-Z0-9]{64}")),
    (
        "datadog_key",
        ("DD_", "dd_", "datadog", "Datadog"),
        re.compile(
            r"(?i:(?:dd|datadog)_?(?:api|app|application)_?key)[\"'\s]*[:=][\"'\s]*(?P<value>[a-f0-9]{32,40})\b"
        ),
    ),
    (
        "cloudflare_token",
        ("CLOUDFLARE", "cloudflare", "CF_"),
        re.compile(
            r"(?i:(?:cloudflare|cf)_(?:api_)?(?:token|key))[\"'\s]*[:=][\"'\s]*(?P<value>[A-Za-z0-9_-]{37,40})\b"
        ),
    ),
    # by their place
    (
        "url_password",
        ("://",),
        re.compile(rf"\b{_SCHEMES}://(?P<user>[^\s:/@\"'<>]*):(?P<password>[^\s/@\"'<>]{{3,200}})@[^\s@]"),
    ),
    (
        "authorization",
        ("uthorization", "UTHORIZATION"),
        re.compile(
            r"(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?i:bearer|basic|token|digest|apikey)\s+(?P<value>[A-Za-z0-9+/_.~=-]{12,2000})"
        ),
    ),
    (
        "authorization",
        ("earer ",),
        re.compile(r"\b[Bb]earer\s+(?P<value>(?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{24,2000}={0,2})"),
    ),
    (
        "curl_user",
        ("-u", "--user"),
        re.compile(r"\s(?:-u|--user)[ =]?[\"']?(?P<user>[^\s:\"']{1,60}):(?P<password>[^\s\"'@]{6,200})"),
    ),
    ("registry_auth", ("auth",), re.compile(r"\"_?auth\"\s*:\s*\"(?P<value>[A-Za-z0-9+/]{16,400}={0,2})\"")),
)
"""Kind, hints, pattern. The first that matches names what several match."""
