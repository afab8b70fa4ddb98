"""The words that put a value into a secret position, and the words that say a value is none."""

from __future__ import annotations

PASSWORD_WORDS: tuple[str, ...] = (
    *("password", "passwd", "passwrd", "passphrase", "pass_phrase", "pass-phrase", "passcode", "userpass"),
    *("dbpass", "passwort", "kennwort", "contrasena", "mot de passe", "mot_de_passe", "motdepasse"),
    *("senha", "wachtwoord", "haslo", "heslo", "losenord", "adgangskode", "salasana", "jelszo", "parola"),
    *("sifre", "palavra-passe", "palavra passe", "lozinka", "kata sandi", "passord", "contrasenya", "geslo"),
    *("slaptazodis", "parool"),
)
"""A person may have chosen the value: short and plain ones count."""

PASSWORD_WORDS_ABROAD: tuple[str, ...] = (
    *("contraseña", "hasło", "lösenord", "jelszó", "şifre", "mật khẩu", "пароль", "паролем", "пароля"),
    *("лозинка", "парола", "κωδικός", "סיסמה", "סיסמא", "كلمة المرور", "كلمة السر", "密码", "密碼", "口令"),
    *("パスワード", "비밀번호", "암호", "पासवर्ड", "รหัสผ่าน", "گذرواژه", "parolă", "slaptažodis", "暗証番号"),
    *("পাসওয়ার্ড", "პაროლი", "գաղտնաբառ", "پاس ورڈ"),
)

SHORT_PASSWORD_WORDS: tuple[str, ...] = ("pass", "pwd", "psw", "mdp", "pw")
"""Password words that are parts of ordinary words: they need a boundary on their left."""

KEY_WORDS: tuple[str, ...] = (
    *("api_key", "api-key", "apikey", "api key", "api_secret", "api-secret", "apisecret", "api_token"),
    *("api-token", "apitoken", "api token", "access_key", "access-key", "accesskey", "access key"),
    *("secret_key", "secret-key", "secretkey", "secret key", "client_secret", "client-secret"),
    *("clientsecret", "client secret", "app_secret", "app-secret", "appsecret", "auth_token", "auth-token"),
    *("authtoken", "auth token", "auth_key", "auth-key", "authkey", "access_token", "access-token"),
    *("accesstoken", "access token", "refresh_token", "refresh-token", "refreshtoken", "id_token"),
    *("idtoken", "bearer_token", "bearertoken", "private_key", "private-key", "privatekey", "private key"),
    *("signing_key", "signing-key", "signingkey", "signing_secret", "signingsecret", "encryption_key"),
    *("encryption-key", "encryptionkey", "master_key", "master-key", "masterkey", "account_key"),
    *("account-key", "accountkey", "shared_secret", "sharedsecret", "shared_access_key", "sharedaccesskey"),
    *("webhook_secret", "webhooksecret", "consumer_secret", "consumersecret", "consumer_key"),
    *("consumerkey", "bot_token", "bot-token", "bottoken", "deploy_key", "deploy-key", "deploykey"),
    *("deploy_token", "service_key", "servicekey", "service_role_key", "session_secret", "sessionsecret"),
    *("jwt_secret", "jwtsecret", "cookie_secret", "cookiesecret", "license_key", "licensekey"),
    *("storage_key", "admin_key", "subscription_key", "subscription-key", "functions_key", "functions-key"),
    *("token_secret", "tokensecret", "secret_token", "secrettoken", "oauth_token", "oauthtoken"),
    *("_authtoken", "write_key", "writekey", "secret_key_base", "secretkeybase", "preshared_key", "preshared-key"),
    *("presharedkey", "clave de api", "clave api", "clave secreta", "klucz api", "klucz_api", "tajny klucz"),
    *("chave de api", "chave api", "chave secreta", "api-sleutel", "api sleutel", "chiave api", "chiave segreta"),
)
"""A machine made the value: eight characters or more, and not a word."""

KEY_WORDS_ABROAD: tuple[str, ...] = (
    *("ключ api", "api ключ", "api-ключ", "密钥", "密鑰", "令牌", "シークレット", "clé api", "clé_api", "clé secrète"),
    *("секретный ключ", "ключ доступа", "API-Schlüssel", "api-schlüssel", "API Schlüssel", "秘钥", "私钥", "秘密鍵"),
    *(
        "シークレットキー",
        "アクセスキー",
        "APIキー",
        "מפתח api",
        "מפתח API",
        "API 키",
        "비밀 키",
        "مفتاح api",
        "مفتاح API",
    ),
    *("api anahtarı", "API anahtarı", "api klíč", "API klíč", "секретний ключ"),
)

WEAK_WORDS: tuple[str, ...] = (
    *("token", "secret", "credentials", "credential", "_auth", "authorization", "geheimnis", "segredo"),
    *("secreto", "jeton", "gettone"),
)
"""Words code uses for other things too: the value has to look random."""

WEAK_WORDS_ABROAD: tuple[str, ...] = ("токен", "секрет", "סוד", "אסימון", "トークン", "秘密", "토큰")

ENV_WORDS: tuple[str, ...] = ("_KEY", "_PAT", "_PSK", "_SALT", "_DSN_SECRET", "_AUTH")
"""Ends of environment variables; upper case, no space around `=`."""


def variants(word: str) -> tuple[str, ...]:
    """The spellings of a word that a case-insensitive match over ASCII would miss."""
    if word.isascii():
        return (word,)
    return tuple(dict.fromkeys((word, word.capitalize(), word.upper())))


LOGIN_WORDS: tuple[str, ...] = (
    *("login", "log in", "logged in", "logging in", "logon", "sign in", "signin", "credentials", "creds", "user"),
    *("username", "anmeldung", "anmelden", "zugangsdaten", "zugang", "benutzer", "credenciales", "usuario"),
    *("identifiants", "identifiant", "connexion", "utilisateur", "credenziali", "utente", "credenciais", "inloggen"),
    *("gebruiker", "dane logowania", "logowanie", "inloggning", "logga in", "kirjaudu", "giris"),
)
"""Before the name of an account, with its password beside it."""

LOGIN_WORDS_ABROAD: tuple[str, ...] = (
    *("inicia sesión", "iniciar sesión", "логин", "логином", "учётка", "учетка", "账号", "帐号", "賬號", "登录"),
    *("用户", "ログイン", "アカウント", "로그인", "계정", "użytkownik", "giriş", "přihlášení", "σύνδεση", "התחברות"),
)

EXPLICIT = frozenset(
    """
    your yours my example examples sample dummy fake placeholder changeme change insert replace replaceme todo tbd
    redacted masked hidden here foo bar baz foobar mock mocked stub lorem ipsum xxx put enter fill fixme notreal
    invalid wrong incorrect bad bogus demo
    """.split()  # noqa: SIM905 - a list would fill a page
)
"""A value with one of these and no letters beyond known words is an invitation to fill in a value."""

NEUTRAL = frozenset(
    """
    a an the this that is are was be must should can may will not no yes or and of for in on to with from by if it
    password passwords passwd pass pwd passphrase passcode secret secrets token tokens key keys api apikey auth
    oauth access refresh client private public credential credentials user username users admin root login db
    database app application service server host config configuration settings setting env environment var variable
    value values field fields input output name id ids type types string str text number int integer bool boolean
    bytes byte char object array list dict map any none null nil undefined void true false optional required missing
    empty unset default new old current next prev previous other test tests testing prod production dev development
    staging local localhost header headers body query cookie cookies session sessions request response bearer basic
    digest hmac jwt jwk hash hashed encrypted encoded plain plaintext raw data file files path dir url uri http
    https form label hint help error message valid expired revoked disabled enabled allowed denied unknown generated
    random manager provider store storage vault get set read write create update delete generate validate verify
    parse super strong weak secure some mysql postgres postgresql redis mongo aws azure gcp google github gitlab
    openai anthropic slack stripe first second last only all each both same policy reset forgot forgotten confirm
    confirmation repeat again show hide toggle length min max count total size limit index kind mode state status
    option options param params parameter arg args argument self cls lambda function func return await async const
    let def class struct enum interface import export module package method prompt stdin stdout stderr interactive
    manual automatic auto internal external global common shared main master primary secondary base sha md argon
    bcrypt scrypt pbkdf aes rsa dsa ecdsa ed utf hex ascii base64 base64url base32 base58 hs rs es ps passwort
    kennwort contraseña senha hasło пароль sting ssm sso mfa otp totp pin code codes sign signing signed signature
    claims claim issuer audience scope scopes grant implicit authorization authentication authenticate visible eye
    lock unlock remember me email mail phone address account accounts letters digits characters
    please choose pick select something anything better longer shorter again later then when you can cannot could does
    don did have has least more less than too also use used using see try sent needs need want make sure check keep
    """.split()  # noqa: SIM905 - a list would fill a page
)
"""Words of code and of interfaces: a value made of these alone is none."""

TECH = frozenset(
    """
    base64 base64url base32 base58 sha1 sha2 sha256 sha384 sha512 sha3 md5 utf8 utf16 oauth2 oauth1 x509 argon2
    argon2i argon2id pbkdf2 bcrypt2 aes128 aes192 aes256 rs256 rs384 rs512 hs256 hs384 hs512 es256 es384 es512 ps256
    ed25519 curve25519 x25519 secp256k1 p256 p384 http2 http3 ipv4 ipv6 int8 int16 int32 int64 uint8 uint16 uint32
    uint64 i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 float32 float64 vec2 vec3 vec4 mp3 mp4 s3 ec2 k8s i18n l10n a11y
    oauth2password pkcs1 pkcs7 pkcs8 pkcs12 rfc2617 rfc6749 rfc7519 web3 log4j h2 h264 blake2b blake2s blake3 crc32
    auth0 tls12 tls13 python3 python2 py3 es6 es5 win32 x86 x64 arm64 amd64 neo4j d3 sqlite3 boto3 urllib3 gpt4 o1
    o3
    """.split()  # noqa: SIM905 - a list would fill a page
)
"""Words with digits in them."""
