package io.github.holdfast.testsupport;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;

import org.springframework.util.FileSystemUtils;

/**
 * A certificate for {@code 127.0.0.1} that nobody has signed, as files.
 */
public final class ServerCertificate implements AutoCloseable {

	private static final String PASSWORD = "secret";

	private final Path directory;

	/**
	 * Make a new one.
	 */
	public ServerCertificate() {
		try {
			this.directory = Files.createTempDirectory("holdfast-certificate-");
			write();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (GeneralSecurityException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void write() throws IOException, GeneralSecurityException, InterruptedException {
		Path store = this.directory.resolve("server.p12");
		Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=server", "-ext", "san=ip:127.0.0.1",
				"-storetype", "PKCS12", "-storepass", PASSWORD, "-keystore", store.toString())
			.redirectErrorStream(true)
			.start();
		String output = new String(keytool.getInputStream().readAllBytes());
		if (keytool.waitFor() != 0) {
			throw new IllegalStateException(output);
		}
		KeyStore keys = KeyStore.getInstance("PKCS12");
		try (InputStream in = Files.newInputStream(store)) {
			keys.load(in, PASSWORD.toCharArray());
		}
		writePem("CERTIFICATE", certificate(), keys.getCertificate("server").getEncoded());
		writePem("PRIVATE KEY", key(), keys.getKey("server", PASSWORD.toCharArray()).getEncoded());
	}

	private static void writePem(String type, Path file, byte[] content) throws IOException {
		String encoded = Base64.getMimeEncoder(64, new byte[] { '\n' }).encodeToString(content);
		Files.writeString(file, "-----BEGIN " + type + "-----\n" + encoded + "\n-----END " + type + "-----\n");
	}

	/**
	 * The certificate as PEM.
	 * @return the file
	 */
	public Path certificate() {
		return this.directory.resolve("server.crt");
	}

	/**
	 * Its private key as PEM.
	 * @return the file
	 */
	public Path key() {
		return this.directory.resolve("server.key");
	}

	@Override
	public void close() {
		try {
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
