import java.util.HashMap;

/** A loop that is compiled while it runs, threads, and null pointers that are caught. */
public class Compiled {
    static long sums() {
        long sum = 0;
        int[] values = new int[50_000];
        for (int round = 0; round < 10; round++)
            for (int i = 0; i < values.length; i++) {
                values[i] += i * round;
                sum += values[(i * 7919) % values.length];
            }
        return sum;
    }

    static int caught() {
        Integer none = null;
        int caught = 0;
        for (int i = 0; i < 300; i++)
            try {
                if (i % 3 == 0) caught += none;
            } catch (NullPointerException expected) {
                caught++;
            }
        return caught;
    }

    public static void main(String[] arguments) throws Exception {
        long[] sums = new long[2];
        Thread[] threads = new Thread[sums.length];
        for (int number = 0; number < threads.length; number++) {
            final int own = number;
            threads[own] = new Thread(() -> {
                HashMap<Integer, Integer> map = new HashMap<>();
                for (int i = 0; i < 5_000; i++) map.merge(i % 97, i, Integer::sum);
                for (int value : map.values()) sums[own] += value;
            });
            threads[own].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(sums() + " " + sums[0] + " " + sums[1] + " " + caught());
    }
}
