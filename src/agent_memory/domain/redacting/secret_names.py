"""How people and programs call what must stay secret; all in lower case."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PASSWORD_WORDS = (
    *_words("password passwd passphrase passcode pwd senha palavra-passe palavra_passe palavrapasse contraseña"),
    *_words(
        "contrasena contrasenya motdepasse mot_de_passe mot-de-passe passwort kennwort wachtwoord lösenord losenord"
    ),
    *_words(
        "passord adgangskode kodeord salasana hasło haslo heslo jelszó jelszo lozinka geslo parola parolă şifre sifre"
    ),
    *_words(
        "slaptažodis parool пароль 密码 密碼 口令 暗証番号 パスワード パスフレーズ 비밀번호 패스워드 암호 סיסמה סיסמא"
    ),
    *_words("katasandi kata_sandi पासवर्ड รหัสผ่าน گذرواژه"),
    *(
        "pass word",
        "pass-word",
        "pass phrase",
        "mot de passe",
        "palavra passe",
        "mật khẩu",
        "kata sandi",
        "kata laluan",
    ),
    *("كلمة المرور", "كلمة السر", "رمز عبور", "κωδικός πρόσβασης"),
)
"""What people write, in their own language."""
SHORT_PASSWORD_WORDS = ("pass", "pw", "mdp", "clave")
"""What is also a part of other words."""
SECRETS = ("secret", "credential", "credentials")
OTHER_TOKENS = ("bearer", "_pat")
KEYS = (
    *_words(
        "api_key apikey api-key access_key accesskey access-key private_key privatekey private-key auth_key authkey"
    ),
    *_words("encryption_key encryptionkey encryption-key signing_key signingkey signing-key account_key accountkey"),
    *_words("shared_key sharedkey sharedaccesskey master_key masterkey license_key licensekey deploy_key deploykey"),
    *_words("service_key service_role_key subscription_key subscriptionkey storage_key client_key key_data key-data"),
    *_words("app_key appkey app-key webhook_key session_key sessionkey admin_key anon_key aws_secret jwt_key nextauth"),
    *("api key", "access key", "storagekey", "storage-key", "account-key"),
)
SESSIONS = ("phpsessid", "jsessionid", "connect.sid")

OTHER_KEYS = (
    *_words(
        "public cache primary foreign partition sort object storage query idempotency sitemap site row item unique"
    ),
    *_words("group map hot cursor state route message react redis lookup dict hash index translation ssh_host host"),
)
"""What stands before `key` where the key opens nothing."""
