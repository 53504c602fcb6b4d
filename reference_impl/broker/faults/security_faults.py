"""These switches plant defects of SASL listeners and authorizers: (name, sentence, caught by).

`switches.py` lists them with the others; what each changes stands in `broker/defects/security.py`.
"""

ROWS = (
    (
        "sasl-mechanisms-not-named",
        "A refused handshake does not say which mechanisms there are.",
        "sasl.unknown-mechanisms-are-refused",
    ),
    (
        "sasl-requests-served-before",
        "A SASL listener serves requests of clients that have not said who they are.",
        "sasl.metadata-is-not-told-before-authentication",
    ),
    (
        "sasl-frames-unlimited",
        "A frame may have any size before authentication.",
        "sasl.frames-have-a-limit-before-authentication",
    ),
    (
        "sasl-passwords-not-checked",
        "PLAIN takes any password of a known user.",
        "sasl.wrong-passwords-are-refused",
    ),
    (
        "sasl-sessions-endless",
        "No session has an end.",
        "sasl.a-session-has-the-length-that-is-set",
    ),
    (
        "sasl-sessions-outlived",
        "Requests are served after the end of a session.",
        "sasl.a-session-that-is-over-is-closed",
    ),
    (
        "sasl-users-change",
        "A session may be renewed as another user.",
        "sasl.a-session-keeps-its-user",
    ),
    (
        "scram-proofs-not-checked",
        "SCRAM takes any proof.",
        "sasl.scram-refuses-a-wrong-password",
    ),
    (
        "scram-signature-wrong",
        "A broker signs SCRAM's last message without the password.",
        "sasl.scram-proves-both-sides",
    ),
    (
        "scram-changes-unheard",
        "A SASL listener goes by the first password that it saw of a user.",
        "sasl.scram-credentials-count-at-once",
    ),
    (
        "scram-users-forgotten",
        "A broker that starts again knows no user of SCRAM.",
        "sasl.scram-credentials-outlive-a-restart",
    ),
    (
        "bearer-tokens-not-checked",
        "OAUTHBEARER takes any token that can be read.",
        "sasl.wrong-bearer-tokens-are-refused",
    ),
    (
        "bearer-signatures-not-checked",
        "OAUTHBEARER takes any signature of a token whose key it knows.",
        "sasl.tokens-that-nobody-signed-are-refused",
    ),
    (
        "listeners-mixed-up",
        "Clients are told of the plain listener, by whichever they came.",
        "sasl.clients-learn-of-the-listener-that-they-came-by",
    ),
    ("denials-ignored", "An ACL that denies denies nothing.", "authorizer.produce-needs-write"),
    ("reads-unguarded", "Everybody may fetch.", "authorizer.fetch-needs-read"),
    ("groups-unguarded", "Everybody's heartbeats are taken.", "authorizer.heartbeat-needs-read"),
    (
        "transactional-ids-unguarded",
        "Everybody may begin with any transactional id.",
        "authorizer.init-producer-id-needs-write",
    ),
    (
        "markers-unguarded",
        "Everybody may write markers of transactions.",
        "authorizer.markers-need-cluster-action",
    ),
    (
        "cluster-unguarded",
        "Everybody is told the ACLs.",
        "authorizer.describe-acls-needs-describe",
    ),
    (
        "configs-unguarded",
        "Everybody is told the configs of topics.",
        "authorizer.describe-configs-needs-describe-configs",
    ),
    (
        "forbidden-topics-listed",
        "Metadata of all topics shows those that its client may not describe.",
        "authorizer.metadata-of-all-leaves-out-forbidden-topics",
    ),
    (
        "forbidden-groups-listed",
        "ListGroups shows groups that its client may not describe.",
        "authorizer.list-groups-leaves-out-forbidden-groups",
    ),
    (
        "unknown-topics-told",
        "Metadata says whether there is a topic to whoever may not describe it.",
        "authorizer.unknown-topics-look-like-forbidden-ones",
    ),
    (
        "all-operations-told",
        "Clients are told of an operation that they may not do.",
        "authorizer.topics-tell-what-one-may-do",
    ),
    ("hosts-ignored", "An ACL holds for every host.", "authorizer.an-acl-holds-for-its-host"),
    (
        "prefixes-ignored",
        "A prefixed ACL holds for no topic.",
        "authorizer.a-prefix-covers-what-begins-with-it",
    ),
    (
        "everybody-is-nobody",
        "An ACL for User:* allows nobody.",
        "authorizer.an-acl-may-be-about-everybody",
    ),
    (
        "nothing-implied",
        "To be allowed READ does not allow DESCRIBE.",
        "authorizer.some-operations-allow-describe",
    ),
    ("super-users-few", "Only one super user is one.", "authorizer.super-users-need-no-acls"),
    (
        "nobody-without-an-acl",
        "allow.everyone.if.no.acl.found allows nobody.",
        "authorizer.everybody-may-do-what-no-acl-is-about",
    ),
    (
        "patterns-mixed-up",
        "A filter by PREFIXED finds literal ACLs.",
        "authorizer.filters-tell-patterns-apart",
    ),
    (
        "deleted-acls-kept",
        "ACLs that were deleted stay.",
        "authorizer.deletions-tell-what-they-deleted",
    ),
)
