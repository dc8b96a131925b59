package io.github.holdfast.store;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ids are readable, fit the store, and differ whenever the keys differ.
 */
class LockKeysTests {

	private static final int MAX = 255;

	@ParameterizedTest
	@ValueSource(strings = { "lock:inventory:SKU-1", "lock:a b/c\\d{e}", "lock:größe", "lock:\ud83d\ude00", "x" })
	void idOfAnOrdinaryKeyIsTheKey(String key) {
		assertThat(LockKeys.id(key, MAX)).isEqualTo(key);
	}

	@Test
	void controlCharactersAndPercentAreEscaped() {
		assertThat(LockKeys.id("a\u0000b\r\nc\td\u007fe%f", MAX)).isEqualTo("a%00b%0d%0ac%09d%7fe%25f");
	}

	@Test
	void escapedKeyIsNotTakenForTheTextOfItsEscape() {
		assertThat(LockKeys.id("a\n", MAX)).isNotEqualTo(LockKeys.id("a%0a", MAX));
	}

	@Test
	void caseBlanksAndNormalFormsAreKeptApart() {
		List<String> keys = List.of("SKU-a", "SKU-A", "SKU-a ", " SKU-a", "SKU-a\t", "SKU-a\u0000", "caf\u00e9",
				"cafe\u0301", "cafe");
		assertThat(keys).extracting((key) -> LockKeys.id(key, MAX)).doesNotHaveDuplicates();
	}

	@Test
	void longestReadableIdIsOneByteShorterThanTheLimit() {
		String key = "x".repeat(254);
		assertThat(LockKeys.id(key, MAX)).isEqualTo(key);
	}

	@ParameterizedTest
	@ValueSource(ints = { 255, 256, 4096, 1_000_000 })
	void longKeyEndsInAHashAndHasExactlyTheLongestLength(int length) {
		String id = LockKeys.id("x".repeat(length), MAX);
		assertThat(bytes(id)).isEqualTo(MAX);
		assertThat(id).matches("x{190}#[0-9a-f]{64}");
	}

	@Test
	void hashedIdIsNotTheIdOfAnotherKey() {
		String hashed = LockKeys.id("x".repeat(300), MAX);
		assertThat(LockKeys.id(hashed, MAX)).isNotEqualTo(hashed);
	}

	@Test
	void longKeysThatDifferAtTheEndHaveDifferentIds() {
		String prefix = "x".repeat(300);
		assertThat(LockKeys.id(prefix + "a", MAX)).isNotEqualTo(LockKeys.id(prefix + "b", MAX));
	}

	@Test
	void longKeyIsNotMistakenForItsEscapedForm() {
		String prefix = "x".repeat(300);
		assertThat(LockKeys.id(prefix + "\n", MAX)).isNotEqualTo(LockKeys.id(prefix + "%0a", MAX));
	}

	@Test
	void escapesCountTowardsTheLimit() {
		String key = "x".repeat(252) + "\n";
		assertThat(bytes(LockKeys.id(key, MAX))).isEqualTo(MAX);
		assertThat(LockKeys.id(key, MAX)).contains("#");
	}

	@ParameterizedTest
	@ValueSource(strings = { "é", "€", "\ud83d\ude00" })
	void charactersOfSeveralBytesAreNeverCutInTheMiddle(String character) {
		Set<String> ids = new HashSet<>();
		for (int shift = 0; shift < 4; shift++) {
			String id = LockKeys.id("x".repeat(shift) + character.repeat(200), MAX);
			assertThat(bytes(id)).isEqualTo(MAX);
			assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(id)).isTrue();
			assertThat(id).doesNotContain("?").startsWith("x".repeat(shift) + character);
			ids.add(id);
		}
		assertThat(ids).hasSize(4);
	}

	@Test
	void limitCountsBytesAndNotCharacters() {
		assertThat(LockKeys.id("é".repeat(127), MAX)).isEqualTo("é".repeat(127));
		assertThat(LockKeys.id("é".repeat(128), MAX)).contains("#");
	}

	private static int bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8).length;
	}

}
